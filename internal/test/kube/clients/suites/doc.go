// Package suites runs controller-runtime's own tests of pkg/client and pkg/cache, as they are in its module, with
// USE_EXISTING_CLUSTER=true on a server of this project. testdata/specs.txt lists the specs that fail here and pass with a
// kube-apiserver, each with its reason; a spec that is missing there, and one that passes again, fail the test. A spec that
// fails in some runs only is marked there, and may do either.
//
//	go test ./suites -v          # a minute, and the build of the suites
//	go test ./suites -cluster http://127.0.0.1:8097
//
// The second runs them on another server, such as the kube-apiserver of internal/test/etcd/referee, and prints its counts. The
// suites leave namespaces and pods behind, so each of them wants a server of its own.
package suites
