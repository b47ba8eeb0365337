// Command controller is a small but complete controller of controller-runtime: it has
// a kind of its own with a status, leader election, objects that it owns, and others
// that it watches. It shows how to test a controller: each test has its own API server
// and runs minutes of virtual time.
//
// A Pool publishes its live members as Endpoints. Members are Leases with certain
// labels, whose holders renew them.
//
// The program itself does not depend on kubecoord: it works with any kubeconfig. Two
// replicas may run, of which one works.
package main
