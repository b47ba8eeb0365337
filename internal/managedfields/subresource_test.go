package managedfields

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// newStatusOf returns the kind of leases for a subresource that writes only the
// spec.
func newStatusOf(main *FieldManager) *FieldManager {
	k := *main
	k.Subresource, k.Reset = "status", []string{"metadata"}
	return &k
}

func TestSubresourceHasItsOwnEntryWithOnlyTheFieldsThatItWrites(t *testing.T) {
	main := *leases
	main.Reset = []string{"spec"}
	status := newStatusOf(&main)
	live := &lease{}
	live.Labels, live.UID = map[string]string{"k": "v"}, "u"
	live.Spec.HolderIdentity = new("a")
	main.Update(0, nil, live, "m", at(1))
	require.Len(t, live.ManagedFields, 1)
	assert.Equal(t, `{"f:metadata":{"f:labels":{".":{},"f:k":{}}}}`, string(live.ManagedFields[0].FieldsV1.Raw))

	next := &lease{}
	next.UID, next.ManagedFields = "u", []meta.ManagedFieldsEntry{{}}
	next.Spec.HolderIdentity = new("b")
	next.Annotations = map[string]string{"k": "v"}
	status.Update(0, live, next, "m", at(2))
	require.Len(t, next.ManagedFields, 2, "a subresource cannot clear managedFields")
	assert.Equal(t, `{"f:metadata":{"f:labels":{".":{},"f:k":{}}}}`, string(next.ManagedFields[0].FieldsV1.Raw), "the labels keep their owner")
	assert.Equal(t, "status", next.ManagedFields[1].Subresource)
	assert.Equal(t, `{"f:spec":{"f:holderIdentity":{}}}`, string(next.ManagedFields[1].FieldsV1.Raw))

	renewed := &lease{}
	renewed.UID, renewed.Labels = "u", live.Labels
	renewed.Spec.HolderIdentity = new("c")
	status.Update(0, next, renewed, "m", at(3))
	assert.Equal(t, at(3).Unix(), renewed.ManagedFields[1].Time.Unix())
	assert.Equal(t, at(1).Unix(), renewed.ManagedFields[0].Time.Unix())
}
