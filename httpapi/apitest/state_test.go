package apitest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// generate creates a Lease with a generated name, and returns the name and the uid.
func (d *door) generate(t testing.TB, prefix, holder, owner string) (name, uid string) {
	t.Helper()
	body := `{"metadata":{"generateName":"` + prefix + `"` + owner + `},"spec":{"holderIdentity":"` + holder + `","renewTime":"` + time.Now().Format("2006-01-02T15:04:05.000000Z07:00") + `"}}`
	a := d.do(t, "POST", leases, body)
	require.Equal(t, 201, a.code, a)
	all := d.Requests()
	r := all[len(all)-1].Result
	return r.Name, r.UID
}

func ownedBy(name, uid string) string {
	return fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","name":%q,"uid":%q}]`, name, uid)
}

// Two runs that do the same, in another order and at another time, end in the same state.
func TestStatesOfEqualRunsAreEqual(t *testing.T) {
	run := func(t *testing.T, holders []string, owner string) map[string]string {
		var state map[string]string
		synctest.Test(t, func(t *testing.T) {
			d := newDoor(t)
			for _, holder := range holders {
				time.Sleep(time.Second)
				name, uid := d.generate(t, "g-", holder, "")
				if owner == holder {
					d.generate(t, name+"-", "child of "+name, ownedBy(name, uid))
					d.create(t, "of-"+name)
				}
			}
			state = d.State()
		})
		return state
	}
	one := run(t, []string{"x", "y"}, "y")
	for range 20 { // generated names come in any order
		assert.Equal(t, one, run(t, []string{"y", "x"}, "y"))
	}
	assert.NotEqual(t, one, run(t, []string{"x", "y"}, "x"))
	assert.NotEqual(t, one, run(t, []string{"x", "y", "y"}, "x"))
	const l = "leases.coordination.k8s.io default/"
	assert.Equal(t, []string{l + "g-<1>", l + "g-<2>", l + "g-<2>-<1>", l + "of-g-<2>"}, slices.Sorted(maps.Keys(one)))
	assert.JSONEq(t, `{
		"metadata": {
			"name": "g-<2>-<1>", "generateName": "g-<2>-", "namespace": "default", "creationTimestamp": "<time>", "resourceVersion": "<version>",
			"ownerReferences": [{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "name": "g-<2>", "uid": "<uid of leases.coordination.k8s.io default/g-<2>>"}]
		},
		"spec": {"holderIdentity": "child of g-<2>", "renewTime": "<time>"}
	}`, one[l+"g-<2>-<1>"])
}

func TestStateShowsReferencesToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		name, uid := d.generate(t, "g-", "x", "")
		d.generate(t, "h-", "x", ownedBy("g", uid))
		d.do(t, "DELETE", leases+"/"+name, "")
		assert.Contains(t, d.State()["leases.coordination.k8s.io default/h-<1>"], `"uid": "<uid of no object>"`)
		assert.Len(t, d.State(), 1)
	})
}

// The Pods of a StatefulSet have a generateName too.
func TestStateKeepsNamesThatClientsChoose(t *testing.T) {
	d := newDoor(t)
	require.Equal(t, 201, d.do(t, "POST", leases, `{"metadata":{"generateName":"g-","name":"g-0"}}`).code)
	assert.Equal(t, []string{"leases.coordination.k8s.io default/g-0"}, slices.Collect(maps.Keys(d.State())))
}

func TestWaitQuietWaitsForAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		go func() {
			d := doorFor(api, "x")
			for i := range 5 {
				d.create(t, fmt.Sprint("l", i))
				time.Sleep(3 * time.Second)
			}
			api.Fault(apitest.Delay(7*time.Second), apitest.Match{Client: "x"})
			d.do(t, "GET", leasesA, "")
		}()
		go func() {
			for range 150 {
				doorFor(api, "other").do(t, "GET", leasesA, "")
				time.Sleep(700 * time.Millisecond) // no multiple of it is 5 s: a pause that is over is asked for between two requests
			}
		}()
		start := time.Now()
		require.NoError(t, api.WaitQuiet(t.Context(), 5*time.Second, apitest.Match{Client: "x"}.Matches))
		assert.Equal(t, 15*time.Second+7*time.Second+5*time.Second, time.Since(start), "a request in progress is no pause")

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := api.WaitQuiet(ctx, 5*time.Second, apitest.Match{}.Matches)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "apitest.WaitQuiet: context deadline exceeded; the last request: get leases default/a 404")
		time.Sleep(time.Hour)
		assert.NoError(t, api.WaitQuiet(t.Context(), 0, apitest.Match{}.Matches))
	})
}
