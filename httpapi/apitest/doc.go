// Package apitest gives a test its own Kubernetes coordination API: a store and the API that serves
// it. Both end with the test, and leave no goroutine behind.
//
//	api := apitest.New(t)
//	client, err := kubernetes.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.Transport()})
//
// # Doors
//
// A client in the test uses [API.Transport], which needs no socket and works in a testing/synctest
// bubble. A client in another process or language uses [API.URL] or [API.Kubeconfig], which open a
// loopback port. Go code that needs no HTTP uses the store itself: lease.In(api.Store()).
//
// # Faults
//
// [API.Fault] makes requests fail: an [Effect] acts on the requests that a [Match] chooses, or without
// one on all of them:
//
//	api.Fault(apitest.Answer(503))
//	api.Fault(apitest.CutAfter().First(1), apitest.Match{Verb: "update", Client: "a"}).MustHit()
//
// [Choose] takes a function that decides about each request, and [Adversary] decides at random.
// [API.Requests] returns all requests with their outcome. Faults do not act on the store.
//
// # Time
//
// In a testing/synctest bubble time is virtual: time.Sleep moves it. Outside of one, such as over a
// socket, set Options.Store.Clock to clock.NewManual and call [API.FastForward].
//
// # Verdicts
//
// [API.Verify] looks for mistakes of the clients: two holders of one Lease at the
// same time, and updates that were lost. Options.Verify calls it when the test ends.
//
// # Forks
//
// [API.Fork] copies an API with its objects and history in a few microseconds. One
// costly fixture can serve many parallel tests, which never see each other's writes.
package apitest
