package registry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// A list of a store at 1005 or a replica at 1003 runs its wait for a version by Waiting, and nothing else.
func TestWaitingRunsTheWaitForAVersionInTheFuture(t *testing.T) {
	type options = registry.ListOptions
	const exact = registry.MatchExact
	for name, row := range map[string]struct {
		opts          options
		store, behind bool // waits
	}{
		"any":                    {options{ResourceVersion: "0"}, false, false},
		"a version of the past":  {options{ResourceVersion: "1003"}, false, false},
		"the present":            {options{ResourceVersion: "1005"}, false, true},
		"the present, exactly":   {options{ResourceVersion: "1005", ResourceVersionMatch: exact}, false, true},
		"a page of the present":  {options{Limit: 1}, false, true},
		"the future":             {options{ResourceVersion: "1006"}, true, true},
		"the future, not older":  {options{ResourceVersion: "1006", ResourceVersionMatch: registry.MatchNotOlderThan}, true, true},
		"the future, exactly":    {options{ResourceVersion: "1006", ResourceVersionMatch: exact}, true, true},
		"the future, with limit": {options{ResourceVersion: "1006", Limit: 1}, true, true},
		"a wrong version":        {options{ResourceVersion: "x"}, false, false},
		"a wrong selector":       {options{ResourceVersion: "1006", LabelSelector: ","}, false, false},
		"a wrong shard":          {options{ResourceVersion: "1006", ShardSelector: "x"}, false, false},
		"one object, exactly":    {options{ResourceVersion: "1006", ResourceVersionMatch: exact, Namespace: "ns", FieldSelector: "metadata.name=a"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, _, behind := lagging(t)
				r, opts := leasesIn(st).r, row.opts
				if opts.ResourceVersion == "" {
					first, err := r.List(t.Context(), opts)
					require.NoError(t, err)
					opts.Continue = first.Continue
				}
				for ctx, want := range map[context.Context]bool{t.Context(): row.store, behind: row.behind} {
					began, waited, errWait := time.Now(), time.Duration(0), error(nil)
					opts.Waiting = func(wait func() error) error {
						errWait = wait()
						waited += time.Since(began)
						return errWait
					}
					_, err := r.List(ctx, opts)
					assert.Equal(t, want, waited == 3*time.Second)
					assert.Equal(t, waited, time.Since(began), "all of the wait")
					if want {
						assert.Equal(t, errWait, err)
					}
				}
			})
		})
	}
}

func TestWaitingEndsWhenTheVersionIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p, behind := lagging(t)
		time.AfterFunc(time.Second, p.CatchUp)
		var waits []time.Duration
		get := func() {
			began := time.Now()
			_, err := leasesIn(st).r.GetWaiting(behind, "ns", "a", "1005", func(wait func() error) error {
				err := wait()
				waits = append(waits, time.Since(began))
				return err
			})
			assert.NoError(t, err)
		}
		get()
		get()
		assert.Equal(t, []time.Duration{time.Second}, waits, "the second read finds the version")
	})
}

func TestAnErrorOfWaitingEndsTheRead(t *testing.T) {
	st, _, behind := lagging(t)
	refuse := func(func() error) error { return assert.AnError }
	_, err := leasesIn(st).r.List(behind, registry.ListOptions{ResourceVersion: "1005", Waiting: refuse})
	assert.Equal(t, assert.AnError, err)
	_, err = leasesIn(st).r.GetWaiting(behind, "ns", "a", "1005", refuse)
	assert.Equal(t, assert.AnError, err)
}
