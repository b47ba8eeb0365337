// Package reference runs a real kube-apiserver beside the tests: a process on loopback with an etcd of its own, which
// nothing but the recorded scenarios writes to.
//
// The binary is built by ../kube-apiserver, or anywhere else; the environment variable KUBE_APISERVER names it.
//
//	server, err := reference.Start(ctx, os.Getenv("KUBE_APISERVER"))
//	...
//	defer server.Close()
//	runner := &wiretest.Runner{Transport: server, BaseURL: server.URL(), Prepare: server.CreateNamespace}
package reference
