// Package oldclients runs the modules below it: elections by versions of
// client-go whose LeaseCandidate is an older one. They are modules of their own,
// outside go.work, which would raise all to one version. The newest client-go
// plays the same scenarios in examples/clients/coordinated.
//
// A module is run alone by:
//
//	GOWORK=off go -C internal/test/clients/oldclients/client031 test ./...
package oldclients
