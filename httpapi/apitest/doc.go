// Package apitest gives a test a Kubernetes coordination API of its own: a
// store and the API over it, closed when the test ends, with no port open and
// no goroutine left.
//
//	api := apitest.New(t)
//	client, err := kubernetes.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.Transport()})
//
// Transport works inside a testing/synctest bubble, where hours pass at once.
// URL, TLSURL and Kubeconfig open a loopback port when they are first called,
// for programs in other processes and languages. Store is the door for Go code
// without HTTP: lease.In(api.Store()).
//
// A Fault says which requests are to meet with what: an error, a delay, a
// connection that is cut before or after the write is done, a watch that is
// torn, a partition, a replica of the server that lags behind. Faults act alike
// through every door but the Store, which has none. Each counts what it hit, so
// that a test can make sure that what it tests took place. What was asked of the
// server is in Requests.
//
// Verify looks back at what the clients of a test did to each other: whether two of
// them held a Lease at once, and whether one overwrote an update that it had not
// seen. Options.Verify calls it at the end of the test. Verdict returns the findings.
//
// Fork clones the whole world of a test for another one in a few microseconds: one
// costly fixture, many tests at once that never see each other's writes.
//
// Load and Dump fill the store from files and write it back, see package
// store/fixture. Open is for programs that have no test: a server that others
// test against.
//
// What clients see is decided in package httpapi, which this package goes
// around; nothing here knows a kind or a wire format but for their frames.
package apitest
