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

// Await waits if the list of the same options would, in a store at 1005 and a replica at 1003.
func TestAwaitWaitsForVersionsInTheFuture(t *testing.T) {
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
					began := time.Now()
					err := r.Await(ctx, opts)
					assert.Equal(t, want, time.Since(began) == 3*time.Second)
					began = time.Now()
					_, listErr := r.List(ctx, opts)
					assert.Equal(t, want, time.Since(began) == 3*time.Second, "the list waits")
					if want {
						assert.Equal(t, listErr, err)
					} else {
						assert.NoError(t, err)
					}
				}
			})
		})
	}
}

func TestAwaitEndsWhenTheVersionIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p, behind := lagging(t)
		time.AfterFunc(time.Second, p.CatchUp)
		began := time.Now()
		assert.NoError(t, leasesIn(st).r.Await(behind, registry.ListOptions{ResourceVersion: "1005"}))
		assert.Equal(t, time.Second, time.Since(began))
	})
}
