package apitest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// Two worlds that are forked see different changes at the same versions, and each is held against its own.
func TestVerifyLooksAtEachForkByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := &writers{t, apitest.New(t)}
		parent.does("w", "POST", leases, leaseNamed("a"))
		child := &writers{t, parent.api.Fork(t)}
		for world, name := range map[*writers]string{parent: "b", child: "c"} {
			d := doorTo(world.api)
			d.watch(t, leases+"?watch=true&resourceVersion=1000")
			require.Equal(t, 201, world.does("w", "POST", leases, leaseNamed(name)).code)
			require.Equal(t, 200, world.does("w", "GET", leasesA, "").code)
			require.Equal(t, 404, world.does("w", "GET", leases+"/z", "").code)
			world.patches("w", heldBy+name+endOf)
		}
		synctest.Wait()
		for _, world := range []*writers{parent, child} {
			v := world.api.Verdict()
			assert.Empty(t, v.Findings)
			assert.Equal(t, []int{3, 3}, []int{v.Changes, v.Events})
		}
	})
}

// What a replica leaves out is found, however much it lags.
func TestVerifyNoticesAReplicaThatLeavesOutAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writers{t, broken(t, lose(2))}
		w.does("w", "POST", leases, leaseNamed("a"))
		replica := w.api.Fault(apitest.Fault{Client: "c", Stale: &apitest.Stale{}})
		c := doorFor(w.api, "c")
		c.watch(t, leases+"?watch=true&resourceVersion=0")
		for _, name := range []string{"b", "c", "d"} {
			w.does("w", "POST", leases, leaseNamed(name))
		}
		synctest.Wait()
		require.Empty(t, w.api.Verdict().Findings, "it has told of nothing yet")
		replica.Remove()
		synctest.Wait()
		findings := w.api.Verdict().Findings
		require.Len(t, findings, 1)
		assert.Equal(t, `watch leases default/* resourceVersion=0 by client "c" did not tell of 1003 before ADDED 1004`, findings[0].Text)
	})
}
