// Package reference runs a real kube-apiserver for the tests: a process on loopback with its own etcd. Only the recorded
// scenarios write to it.
//
// The environment variable KUBE_APISERVER names the binary, which ../kube-apiserver builds.
//
//	server, err := reference.Start(ctx, os.Getenv("KUBE_APISERVER"))
//	...
//	defer server.Close()
//	runner := &wiretest.Runner{Transport: server, BaseURL: server.URL(), Prepare: server.CreateNamespace}
package reference
