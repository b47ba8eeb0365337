// Command server serves the Kubernetes coordination API from memory, for anything that speaks to a Kubernetes API server:
// curl, kubectl, and clients in any language.
//
// It is a program to use. To write a server of your own, begin with examples/embed, which is the whole of it in one function:
// a server needs no more than package httpapi and net/http. The code of this one is in examples/internal/memory.
// examples/kube is the same server with all kinds of Kubernetes, and with CustomResourceDefinitions.
//
//	go run ./examples/server -listen 127.0.0.1:8001
//
// It prints the line "serving on http://HOST:PORT" when it is ready. SIGINT and
// SIGTERM end open watches and stop it.
//
// At an address of the loopback, or with -debug, it serves tests in any language: below /debug/ it
// offers the functions of package httpapi/apitest. GET /debug/ lists the operations; in a browser it
// is a page with objects, faults, requests and history, and /debug/elections shows elections, as they
// happen. With -debug resourceVersions begin at 1000 in each run, as tests may want.
//
//	curl -X POST -H 'Content-Type: application/json' $URL/debug/faults \
//	  -d '{"verb": "update", "resource": "leases", "first": 2, "answer": {"code": 409}}'
//	curl $URL/debug/faults            # the number of requests that were hit
//	curl -X POST $URL/debug/forks    # a fork, at the URL in the answer
//	curl -X POST $URL/debug/reset     # back to the first state
//
// A fork has all of this below its own URL, including /debug/. With -clock, time passes
// only by POST /debug/clock.
//
// With -load it starts with the objects in files, such as the output of kubectl get -o
// yaml. With -dump it writes its state when it ends, at SIGHUP, and with -dump-every so
// often, so that another server can continue. SIGKILL and a crash lose the writes after the
// last dump. The next server begins at a greater resourceVersion than any of this one, so
// that no client can take a new state for one that it has seen.
//
// Clients have the kinds of limits that a kube-apiserver has: docs/reliability.md. A browser can
// use it only by the names of the loopback, the address of -listen and -allow-host.
// -authorize, files that change, and /metrics: docs/operations.md.
package main

import "github.com/kubecoord/kubecoord/examples/internal/memory"

func main() { memory.Main("server", nil) }
