// Package fastforward holds tests by real clients over a socket, outside of any
// bubble, of a server whose clock is moved by hand: what clients see when an hour
// passes at once. The clients' own timers are real all the while, so nothing here
// waits for one of them.
package fastforward
