// Package explorereal is what the tests of the packages below it share: controllers that others have written, each run by package explore. README.md has
// what was found. The module is outside go.work, because it needs all of Kubernetes.
//
//	GOWORK=off go test ./... -timeout 30m -v
package explorereal
