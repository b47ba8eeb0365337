// Command assets makes a folder with kube-apiserver and etcd for the environment variable KUBEBUILDER_ASSETS, so that a suite
// of controller-runtime's envtest runs on kubecoord without a change:
//
//	export KUBEBUILDER_ASSETS=$(go run ./store/kube/assets bin/assets)
//	go test ./...
//
// Both programs are this command itself, which decides by the name with which it is started. kube-apiserver serves from memory. It takes
// all flags of kube-apiserver, and says which of those that are set have no effect. etcd answers health checks only:
// objects end with kube-apiserver. If kubectl is installed, the folder has a link to it.
//
// Servers listen on the loopback only.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	switch name {
	case "kube-apiserver":
		os.Exit(apiserver(os.Args[1:], os.Stdout, os.Stderr))
	case "etcd":
		os.Exit(etcd(os.Args[1:], os.Stdout, os.Stderr))
	}
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "usage: %s DIR\n\nMakes DIR/kube-apiserver and DIR/etcd for KUBEBUILDER_ASSETS, and prints the path of DIR.\n", name)
		os.Exit(2)
	}
	if err := makeFolder(os.Args[1], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
