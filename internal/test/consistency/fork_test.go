package consistency_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/consistency"
)

// A fork and its parent make different changes at the same versions. Each is checked against its own history.
func TestReportChecksEachForkAgainstItsOwnHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := &writers{t, consistency.New(t, apitest.Options{})}
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
			v := world.api.Report()
			assert.Empty(t, v.Findings)
			assert.Equal(t, []int{3, 3}, []int{v.Changes, v.Events})
		}
	})
}

// Report finds an event that a lagging replica leaves out.
func TestReportFindsAnEventThatAReplicaLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writers{t, broken(t, lose(2))}
		w.does("w", "POST", leases, leaseNamed("a"))
		replica := w.api.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{Client: "c"})
		c := doorFor(w.api, "c")
		c.watch(t, leases+"?watch=true&resourceVersion=0")
		for _, name := range []string{"b", "c", "d"} {
			w.does("w", "POST", leases, leaseNamed(name))
		}
		synctest.Wait()
		require.Empty(t, w.api.Report().Findings, "it has sent no event yet")
		replica.Remove()
		synctest.Wait()
		findings := w.api.Report().Findings
		require.Len(t, findings, 1)
		assert.Contains(t, findings[0], "the events of a watch do not begin with the state of any version")
	})
}

func TestReportAcceptsEveryStalePattern(t *testing.T) {
	for name, stale := range map[string]apitest.StaleOptions{
		"stands still": {}, "changes behind": {Changes: 2}, "a while behind": {Age: time.Second}, "every read": {EveryRead: true},
		"skip missed": {SkipMissed: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := consistency.Checked(t, apitest.Options{})
				d := doorTo(api)
				d.create(t, "a")
				f := d.Fault(apitest.Stale(stale))
				w := d.watch(t, leases+"?watch=true&resourceVersion=0&allowWatchBookmarks=true")
				for i := range 5 {
					d.do(t, "PATCH", leasesA, heldBy+fmt.Sprint(i)+endOf, "Content-Type", "application/merge-patch+json")
					for _, target := range []string{leases, leases + "?resourceVersion=0", leasesA + "?resourceVersion=0", leases + "?resourceVersion=1003"} {
						d.do(t, "GET", target, "")
					}
					time.Sleep(2 * time.Second)
				}
				first, err := w.ReadString('\n')
				require.NoError(t, err)
				assert.Regexp(t, `^{"type":"(ADDED|BOOKMARK)"`, first)
				f.Remove()
				d.create(t, "b")
				d.do(t, "GET", leases+"?resourceVersion=0", "")
				assert.Greater(t, f.Hits(), 20)
			})
		})
	}
}
