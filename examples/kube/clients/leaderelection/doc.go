// Command leaderelection runs real client-go electors that contend for one Lease on an
// embedded server. It kills the leader a few times and prints who leads, as seen by a
// watch of the Lease. Its exit status is 1 if two led at once.
//
//	go run ./examples/kube/clients/leaderelection [-real] [-electors 3] [-kills 3] [-svg FILE]
//
// It is also an example of how to test leader election: the server is a value, the
// electors reach it without a socket, and everything runs in a testing/synctest bubble,
// where minutes pass at once. The tests run hours of elections in a few seconds.
package main
