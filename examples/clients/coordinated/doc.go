// Command coordinated takes real client-go candidates of three versions through
// an upgrade, with an Elector on the embedded server: the oldest leads until it
// is drained, then the next one, and a rollback brings an older one back. It
// prints who led when, and draws it. Its exit status is 1 if two led at once, or
// another led than should.
//
//	go run ./examples/clients/coordinated [-real] [-svg FILE]
//
// Time is virtual unless told otherwise. The tests beside it put 30 days of
// failures into a minute:
//
//	go test ./coordinated -run TestDaysOfFailures/slow -days 30 [-seed N]
package main
