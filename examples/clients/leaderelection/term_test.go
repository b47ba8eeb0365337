package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

var midnight = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// state is a Lease as a client-go elector writes it, at seconds after midnight.
func state(holder string, acquired, renewed, duration int, transitions int32) *lease.Lease {
	at := func(s int) *meta.MicroTime {
		return new(meta.NewMicroTime(midnight.Add(time.Duration(s) * time.Second)))
	}
	return &lease.Lease{Spec: lease.LeaseSpec{
		HolderIdentity: &holder, AcquireTime: at(acquired), RenewTime: at(renewed),
		LeaseDurationSeconds: new(int32(duration)), LeaseTransitions: &transitions,
	}}
}

func termsOf(states ...*lease.Lease) (terms []term) {
	for _, l := range states {
		terms = appendState(terms, l)
	}
	return terms
}

func TestTermsOfStates(t *testing.T) {
	terms := termsOf(
		state("a", 0, 0, 15, 0), state("a", 0, 2, 15, 0), // a is killed
		state("b", 17, 17, 15, 1), state("", 20, 20, 1, 1), // b lets go
		state("c", 20, 20, 15, 2),
	)
	require.NoError(t, checkTerms(terms))
	var table strings.Builder
	printTerms(&table, terms)
	assert.Equal(t, strings.TrimLeft(`
LEADER   FROM           LAST RENEWED   TO             BEGAN       ENDED         RENEWALS   LEASETRANSITIONS
a        00:00:00.000   00:00:02.000   00:00:17.000   created     expired       1          0
b        00:00:17.000   00:00:17.000   00:00:20.000   took over   released      0          1
c        00:00:20.000   00:00:20.000   00:00:35.000   acquired    still leads   0          2
`, "\n"), table.String())
}

func TestCheckTerms(t *testing.T) {
	for name, row := range map[string]struct {
		states []*lease.Lease
		want   string
	}{
		"to the moment": {[]*lease.Lease{state("a", 0, 2, 15, 0), state("b", 17, 17, 15, 1)}, ""},
		"a second early": {[]*lease.Lease{state("a", 0, 2, 15, 0), state("b", 16, 16, 15, 1)},
			"b led from 00:00:16.000, 1s before the term of a was over"},
		"the old one comes back": {[]*lease.Lease{state("a", 0, 2, 15, 0), state("b", 17, 17, 15, 1), state("a", 0, 18, 15, 2)},
			"a led from 00:00:00.000, 32s before the term of b was over"},
		"not counted": {[]*lease.Lease{state("a", 0, 2, 15, 0), state("b", 17, 17, 15, 0)},
			"leaseTransitions went from 0 to 0"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkTerms(termsOf(row.states...))
			if row.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.want)
			}
		})
	}
}

func TestRefereeSeesTwoLeaders(t *testing.T) {
	var r referee
	r.started(t.Context(), "a")
	r.stopped("a")
	r.started(t.Context(), "b")
	r.stopped("c")
	require.NoError(t, r.verdict())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r.started(gone, "c")
	require.NoError(t, r.verdict())
	r.started(t.Context(), "d")
	assert.EqualError(t, r.verdict(), "d began to lead while b did")
}
