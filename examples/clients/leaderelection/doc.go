// Command leaderelection lets real client-go electors contend for one Lease on
// an embedded server, kills the leader a few times, and prints who led when as
// told by the watch of the Lease. Its exit status is 1 if two led at once.
//
//	go run ./examples/clients/leaderelection [-real] [-electors 3] [-kills 3]
//
// It is also an example of how to test leader election: the server is a value
// (newServer), the electors reach it without a socket (newClient), and all of
// it runs in a testing/synctest bubble, where minutes pass at once. The tests
// beside it put a day of elections into a few seconds.
package main
