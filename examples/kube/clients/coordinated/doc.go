// Command coordinated runs an upgrade with real client-go candidates of three versions
// and a Coordinator on the embedded server. The oldest one leads until it is drained, then
// the next one, and a rollback brings an older one back. The program prints and draws
// the leaders over time. Its exit status is 1 if two led at once, or the wrong one led.
//
//	go run ./examples/kube/clients/coordinated [-real] [-svg FILE]
//
// Time is virtual without -real.
package main
