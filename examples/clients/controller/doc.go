// Command controller is a whole controller of controller-runtime, as small as one
// can be that has all the parts: a kind of its own with a status, leader election,
// objects that it owns and others that it watches. What is to be seen here is how
// it is tested: see the tests, each of which has an API server of its own and takes
// minutes of virtual time.
//
// A Pool publishes as Endpoints which of its members are alive. Members are Leases
// with certain labels, whose holders renew them.
//
// The program itself knows nothing of kubecoord: it takes the kubeconfig that it is
// given. Two replicas may run at a time, of which one works.
package main
