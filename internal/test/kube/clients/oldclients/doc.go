// Package oldclients runs the module below it: elections with versions of client-go that use an older LeaseCandidate. It is
// outside go.work, because go.work would select one version for all. The newest client-go runs more scenarios in
// examples/kube/clients/coordinated.
//
// To run one version:
//
//	cd client && GOWORK=off go test ./...
//	cd client && GOWORK=off go test -modfile client032.mod -tags client032 ./...
package oldclients
