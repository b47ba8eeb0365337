// Package assets runs suites of controller-runtime's envtest, unmodified, with the folder that httpapi/kube/assets makes: the suites of
// envtest itself, and a project's suite with old versions of controller-runtime. All specs pass.
//
//	go test ./assets -v
//	go test ./assets -run '^$' -bench Start                                            # with our programs
//	KUBEBUILDER_ASSETS=FOLDER go test ./assets -run '^$' -bench Start                  # with others
//
// To run the project with one version, and with any programs:
//
//	cd assets/project && KUBEBUILDER_ASSETS=FOLDER GOWORK=off go test -modfile cr015.mod ./...
package assets
