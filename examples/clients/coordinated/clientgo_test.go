package main

import (
	"testing"

	"github.com/kubecoord/kubecoord/internal/test/electiontest"
)

// The older versions of client-go play the same scenarios, in modules of their
// own: see the folder oldclients.
func TestElectionHandOverAndFailover(t *testing.T) {
	electiontest.Run(t, electiontest.Client{
		APIVersion: "v1beta1", ContentType: "application/vnd.kubernetes.protobuf",
		Start: func(c electiontest.Contender) (stop func(), err error) {
			p, err := startProcess(processOptions{contender: contender(c), timing: classicTiming})
			if err != nil {
				return nil, err
			}
			return p.kill, nil
		},
	})
}
