// Package debug serves tests in any language: an API with faults, forks, a log of requests, its history and its elections, which
// clients control by HTTP below /debug/. Tests that are not in Go get by it what package httpapi/apitest has.
//
//	srv, err := debug.New(debug.Options{})
//	...
//	defer srv.Close()
//	http.ListenAndServe("127.0.0.1:8001", srv)
//
// GET /debug/ lists the operations, and in a browser it is a page. docs/testing.md has them in a table:
//
//	curl -H 'Content-Type: application/json' $URL/debug/faults \
//	  -d '{"verb": "update", "resource": "leases", "first": 2, "answer": {"code": 409}}'
//	curl $URL/debug/faults/1            # how many requests it has hit
//	curl -X DELETE $URL/debug/faults/1
//	curl -X POST $URL/debug/forks       # a copy of the server at a URL of its own, with all of this
//
// # Clients
//
// The member client of a fault is the user whose credentials a request has, if Options.Server.API has Authenticate. Without it, a
// handler in front may name clients by apitest.WithClient. Where there is no name, userAgent is a part of the header. A crash cuts
// off all requests with the client and the userAgent that the fault names; if it names neither and the client has no name, those with
// the User-Agent of the request. A process that is to crash alone needs a user or a User-Agent of its own. By HTTP/2 a cut ends one
// stream, since a connection may have others.
//
// # Protection
//
// Whoever reaches /debug/ controls the server. It has the Authenticate, Authorize and Hosts of Options.Server.API. Set Hosts, or a
// page of another site can send operations by the browser of the machine. Bodies, forks and faults have limits. A refused operation is
// answered with a Status that names the field and what was expected, and changes nothing.
//
// # Memory
//
// A Server keeps as many changes and requests as Options.Server says, for each fork too. It is for tests.
package debug
