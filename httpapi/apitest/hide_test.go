package apitest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

func TestHiddenEventsCollapse(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.create(t, "a")
		w := d.watch(t, leases+"?watch=true&resourceVersion=1001")
		f := d.Fault(apitest.HideEvents("default", "a"), apitest.Match{Resource: "leases"})
		d.hold(t, "x")
		d.hold(t, "y")
		d.create(t, "b")
		assert.Equal(t, "ADDED b", w.next(), "other objects are not hidden")
		assert.Equal(t, "y", d.holder(t, anyState), "reads show the state")
		f.Remove()
		assert.Equal(t, "MODIFIED a", w.next())
		d.do(t, "DELETE", leases+"/b", "")
		assert.Equal(t, "DELETED b", w.next(), "there was one event")
		assert.Equal(t, 1, f.Hits())
		assert.Equal(t, "any leases *: hide events of default/a", f.String())
	})
}

// A client that opens its watch again, at a later version, while events are hidden. The watch cannot know when a was deleted.
func TestHiddenEventsComeOnALaterWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		f := d.Fault(apitest.HideEvents("", ""))
		d.do(t, "DELETE", leasesA, "")
		d.create(t, "b")
		w := d.watch(t, leases+"?watch=true&resourceVersion=1003")
		d.create(t, "c")
		f.Remove()
		assert.Equal(t, []string{"ADDED b", "DELETED a", "ADDED c"}, []string{w.next(), w.next(), w.next()})
	})
}

func TestChosenEffectsHideEventsUntilRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		w := d.watch(t, leases+"?watch=true&resourceVersion=1001")
		f := d.Fault(apitest.Choose(func(apitest.Request) apitest.Effect { return apitest.HideEvents("", "a") }))
		d.hold(t, "x")
		d.hold(t, "y")
		d.create(t, "b")
		assert.Equal(t, "ADDED b", w.next())
		f.Remove()
		assert.Equal(t, "MODIFIED a", w.next())
	})
}
