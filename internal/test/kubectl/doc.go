// Package kubectl tests kubecoord by running kubectl: the one of the module
// k8s.io/kubectl, which the tests build, and Debian's 1.20 where there is one.
//
// Each file in testdata is a session at a shell: commands, and what they print
// against a real API server. Package internal/session says how they are
// written. They are replayed with each kubectl against a server of their own.
//
//	go test ./...                        # a kubectl that is not there is skipped, and the test says so
//	KUBECTL_1_20=/path/to/kubectl go test ./...
//
// The expectations are not kubecoord's. KUBECOORD_REFERENCE names a real API
// server to replay the sessions against instead, and -update records from it
// what is printed. Steps below "Not on the reference" are left out there, for
// the reason that they give.
//
//	KUBECOORD_REFERENCE=http://127.0.0.1:8099 go test ./...
//	KUBECOORD_REFERENCE=http://127.0.0.1:8099 go test . -run Sessions -update
//
// Where the reference is the bare API machinery without OpenAPI documents and
// namespaces, the tests answer for these with kubecoord's own.
package kubectl
