// Command kube serves the kinds of Kubernetes, and the kinds that CustomResourceDefinitions define, from memory. It is examples/server with
// more kinds, and has all of its flags: -debug, -load, -dump, -kubeconfig and the others. Its module has the libraries of
// Kubernetes, which the root module does not.
//
//	go run ./examples/kube -kubeconfig /tmp/kube.yaml                       # all kinds of client-go
//	go run ./examples/kube -crds config/crd/bases -load testdata/cluster    # and the kinds of a controller
//	go run ./examples/kube -cluster -listen 127.0.0.1:8080                  # with namespaces, webhooks and a garbage collector
//	go run ./examples/kube -kinds '' -crds config/crd/bases                 # only these, and Leases
//
// It prints its address, its kinds, the flags of most use and commands to try. Where standard error is a terminal, it shows how far the
// start is.
package main

import (
	"flag"
	"os"

	"golang.org/x/term"

	"github.com/kubecoord/kubecoord/examples/internal/memory"
	"github.com/kubecoord/kubecoord/examples/kube/kinds"
)

func main() {
	var f kinds.Flags
	f.Register(flag.CommandLine, "client-go")
	f.RegisterCluster(flag.CommandLine)
	memory.Main("kube", func() memory.More {
		more := memory.More{API: f.API, Fixtures: f.Definitions(), About: f.About, Try: f.Try()}
		if term.IsTerminal(int(os.Stderr.Fd())) {
			more.Progress = os.Stderr
		}
		return more
	})
}
