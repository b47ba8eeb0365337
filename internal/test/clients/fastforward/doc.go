// Package fastforward tests a server with a manual clock with real clients over a
// socket, outside of any bubble: an hour passes at once for the server. The
// clients' timers are real, so no test waits for one of them. A test waits for what
// it sees through the client, since FastForward waits for nothing.
package fastforward
