package managedfields

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

// renewal returns a lease that one manager took over from another, and the same
// lease renewed by its holder.
func renewed(t testing.TB) (live, obj *lease) {
	w := world{t: t, kind: leases}
	w.update("creator", `{"metadata":{"name":"a","namespace":"ns","labels":{"app":"x"}},"spec":{"holderIdentity":"me",
		"leaseDurationSeconds":15,"leaseTransitions":1,"acquireTime":"2024-01-01T00:00:00.000000Z","renewTime":"2024-01-01T00:00:00.000000Z"}}`)
	w.update("you", `{"metadata":{"name":"a","namespace":"ns","labels":{"app":"x"}},"spec":{"holderIdentity":"you",
		"leaseDurationSeconds":15,"leaseTransitions":2,"acquireTime":"2024-01-01T00:00:01.000000Z","renewTime":"2024-01-01T00:00:01.000000Z"}}`)
	live = w.live.(*lease)
	obj = leases.Versions[0].Type.Copy(live).(*lease)
	obj.Spec.RenewTime = new(meta.NewMicroTime(at(10)))
	return live, obj
}

func TestRenewalIsCheap(t *testing.T) {
	live, obj := renewed(t)
	now, older := at(10), slices.Clone(obj.ManagedFields)
	older[0].Time = new(meta.NewTime(at(-20)))
	for _, sent := range [][]meta.ManagedFieldsEntry{older, obj.ManagedFields} {
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			obj.ManagedFields = sent
			leases.Update(0, live, obj, "you", now)
		}), 2.0)
		assert.Equal(t, sent[0].Time.Unix(), obj.ManagedFields[0].Time.Unix(), "times of others are as they were sent")
	}
	assert.Equal(t, 10, obj.ManagedFields[1].Time.Second())
	live.ManagedFields, obj.ManagedFields = obj.ManagedFields, nil
	leases.Update(0, live, obj, "you", now)
	assert.Same(t, &live.ManagedFields[0], &obj.ManagedFields[0], "in the same second the record stays")
}
