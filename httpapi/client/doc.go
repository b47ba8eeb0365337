// Package client reads and writes the objects of a server over HTTP: a kubecoord server, or the
// API server of Kubernetes. It imports none of Kubernetes' libraries, and no package of the server.
//
// A Collection is a store.Collection: the methods, their arguments, options, events and errors are those of a store. So code for the objects
// of a store works over a network too, and a Collection of Leases is a lease.Client:
//
//	config, err := client.Kubeconfig("")
//	c, err := client.New(config)
//	leases := client.In(c, lease.Kind())
//	contender, err := lease.NewContender(leases, lease.ContenderOptions{...})
//
// Objects have the preferred version of their kind. The server validates them and fills in their
// defaults; the functions of a kind.Descriptor are not called. A server differs from a store in this:
//
//   - Clock returns clock.Real, as a server has a time of its own.
//   - Delete returns only namespace, name and uid of an object that is gone: the server sends no more.
//   - DeleteCollection from all namespaces at once is refused.
//   - All reads pages of 500 objects. Its error is store.ErrExpired if the loop is so slow that the state is no longer in history.
//   - Watch goes on after the last resourceVersion that it saw if a connection is lost or the server cannot be reached, until its context
//     ends. The error of the context is then joined with the last error of the server. Any other answer that a repetition would not
//     change, such as 403, ends the watch. A ResourceVersion of "" reads a list first, and WatchOptions.Shared has no effect.
//
// # Errors
//
// An answer of the server that is an error is a *meta.StatusError, as from a store:
// errors.Is(err, store.ErrConflict). If no answer came, the error wraps the error of net/http and has
// a method Temporary, which reports whether a later request may succeed. It is then unknown whether
// a write took place.
//
// An answer that the API did not give is no answer, and temporary: a redirect, a page, another 4xx
// without a Status, and a 403 or 404 whose Status does not name a resource. A proxy whose server
// restarts sends such answers, and they decide nothing about an object. The error has the code and
// the first bytes of the text. A 429 or 5xx without a Status is a *meta.StatusError. A 401 with a
// Status is one, too, and not temporary.
//
// # Several servers
//
// Config.Servers has the addresses of one service. All requests go to the first one until it does not
// answer, then to the next, and after the last one to the first. The server that answers is kept. A
// client leaves a server that refuses or loses a connection, answers 5xx, or is silent for half of the
// time until the deadline of a request. This half is at least one second and at most ten, so that time
// is left for another server.
//
//   - A read is sent to the next server at once.
//   - So is a write that no server can have seen. The error of any other write is returned, as it may
//     have been done, and the next request goes to the next server.
//   - A watch goes on at the next server when any request of the Client has found out that its own
//     server does not answer, or when that server answers no pings of HTTP/2. Over HTTP/1.1 a watch
//     alone does not find out for up to ten minutes.
//
// So a leader with the times of client-go keeps its Lease while one of three servers works. Servers
// with one state have no older versions, but a replica of an API server may lag: a watch at a version
// that it does not have yet is answered 504, and is repeated.
//
// # Repetitions
//
// Requests are repeated as by client-go, at most ten times:
//
//   - any request that is answered 429 with the header Retry-After, when that time has passed;
//   - a read that is answered 500 or more with this header;
//   - a read whose connection is lost, after one second.
//
// A write whose connection is lost, or that is answered 500 or more, is never repeated: it may have
// been done. client-go repeats a write after a 500 with the header. Any request that is answered 401
// is sent once more if the TokenFile has another token by then.
//
// Watch and Follow go on over many requests. They repeat any read that may succeed later, until
// their context ends.
//
// # Time
//
// A call ends soon after its context. If that has no deadline, the call ends after Config.Timeout. A
// connection whose other end is gone is found within five seconds with HTTP/2, which New uses over TLS
// if the server can, and within half a minute otherwise.
package client
