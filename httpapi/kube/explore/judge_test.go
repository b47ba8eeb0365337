package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// A search in which nothing went wrong because nothing was tried is not clean.
func TestSearchWithoutRunsIsNotClean(t *testing.T) {
	o := &options{search: explore.Options{Budget: time.Second}}
	for want, r := range map[int]*explore.Report{
		clean:    {Runs: 1, NotRun: []string{"restart 1"}},
		findings: {Findings: []*explore.Finding{{}}},
		atFault:  {NotRun: []string{"restart 1"}},
	} {
		code, err := o.judge(r)
		assert.Equal(t, want, code)
		assert.Equal(t, want == atFault, err != nil, err)
	}
	_, err := o.judge(&explore.Report{NotRun: []string{"restart 1"}})
	assert.EqualError(t, err, "-budget: got 1s, want more: the undisturbed runs have taken it, and nothing was tried")
}
