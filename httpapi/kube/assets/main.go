// Command assets makes a folder with kube-apiserver and etcd for the environment variable KUBEBUILDER_ASSETS, so that a suite
// of controller-runtime's envtest runs on kubecoord without a change:
//
//	export KUBEBUILDER_ASSETS=$(go run ./httpapi/kube/assets bin/assets)
//	go test ./...
//
// Both programs are this command itself, which decides by the name with which it is started. kube-apiserver serves from memory. It takes
// all flags of kube-apiserver, and says which of those that are set have no effect. etcd answers health checks only:
// objects end with kube-apiserver. kubectl is a link to the kubectl of the machine, or says that there is none.
//
// A suite with DownloadBinaryAssets does not read KUBEBUILDER_ASSETS. This line lets it:
//
//	DownloadBinaryAssets: os.Getenv("KUBEBUILDER_ASSETS") == "",
//
// With a second argument the folder has the name that envtest looks for before it downloads DownloadBinaryAssetsVersion to
// BinaryAssetsDirectory, here bin/k8s. Then no line changes:
//
//	go run ./httpapi/kube/assets bin/k8s 1.36.3
//
// The version is only a name. The server answers as the Kubernetes of httpapi.Version.
//
// With the flag --kubecoord-debug, kube-apiserver serves the operations of package httpapi/debug below /debug/, to users who may use
// these paths, such as the administrator of envtest. A suite sets it before it starts its environment:
//
//	env.ControlPlane.GetAPIServer().Configure().Set("kubecoord-debug", "true")
//
// Servers listen on the loopback only.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	switch name {
	case "kube-apiserver":
		os.Exit(apiserver(os.Args[1:], os.Stdout, os.Stderr))
	case "etcd":
		os.Exit(etcd(os.Args[1:], os.Stdout, os.Stderr))
	case "kubectl":
		fmt.Fprintf(os.Stderr, "kubectl is not installed on this machine, and %s only says so: install it, and make the folder again\n", os.Args[0])
		os.Exit(1)
	}
	dir, err := folder(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\n\nusage: %s DIR [VERSION]\n\nMakes DIR/kube-apiserver and DIR/etcd for KUBEBUILDER_ASSETS, and prints the path of DIR.\n"+
			"With VERSION, such as 1.36.3, it makes DIR/VERSION-%s-%s, which DownloadBinaryAssets takes in place of a download.\n", err, name, runtime.GOOS, runtime.GOARCH)
		os.Exit(2)
	}
	if err := makeFolder(dir, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
