// Command kube-apiserver is Kubernetes' own server, built from its public module. README.md in the parent folder says how
// to build it and how to change its version.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
