// Package kubectl tests kubecoord by running kubectl: the kubectl of the module
// k8s.io/kubectl, which the tests build, and Debian's 1.20 if it is installed.
//
// Each file in testdata is a shell session: commands, and their output with a
// real API server. Package internal/session describes the format. Each session
// is replayed with each kubectl against a new server.
//
//	go test ./...                        # skips the tests of a missing kubectl
//	KUBECTL_1_20=/path/to/kubectl go test ./...
//
// The expected output comes from a real API server. KUBECOORD_REFERENCE names
// such a server to replay the sessions against, and -update records its output.
// Steps below "Not on the reference" are skipped there, for the given reason.
//
//	KUBECOORD_REFERENCE=http://127.0.0.1:8099 go test ./...
//	KUBECOORD_REFERENCE=http://127.0.0.1:8099 go test . -run Sessions -update
//
// The sessions in testdata/compared need all kinds of Kubernetes, so their reference is a kube-apiserver without controllers.
// The ones in testdata/controller run beside the controller of examples/kube/controller.
// Where kubecoord differs, a step has the results of both, and the prose above it gives the reason.
//
// If the reference is the bare API machinery, without OpenAPI documents and
// namespaces, kubecoord answers the requests for them.
package kubectl
