// Package oldclients runs the modules below it: elections with versions of
// client-go that use an older LeaseCandidate. They are separate modules outside
// go.work, because go.work would select one version for all. The newest client-go
// runs the same scenarios in examples/clients/coordinated.
//
// To run one module:
//
//	GOWORK=off go -C internal/test/clients/oldclients/client031 test ./...
package oldclients
