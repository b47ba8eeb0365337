package managedfields

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// An item without keys cannot be owned. A server refuses such objects, but the record is computed before.

func TestUpdateToAnInvalidListLeavesTheRecord(t *testing.T) {
	forged := []meta.ManagedFieldsEntry{{Manager: "x", Operation: "Update", APIVersion: "example.com/v1", FieldsType: "FieldsV1",
		FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:size":{}}`)}}}
	w := world{t: t, kind: things}
	o := w.object(0, `{"metadata":{},"choices":[{}],"size":1}`)
	o.GetObjectMeta().ManagedFields = forged
	w.updateTo(0, "m", o)
	assert.Nil(t, o.GetObjectMeta().ManagedFields, "a new object has no record")

	w = world{t: t, kind: things}
	w.update("m", `{"metadata":{},"size":1}`)
	before := w.record()
	o = w.object(0, `{"metadata":{},"choices":[{}],"on":true}`)
	o.GetObjectMeta().ManagedFields = forged
	w.updateTo(0, "n", o)
	assert.Equal(t, before, w.record(), "the record of the request is not used either")
}

func TestApplyToAnInvalidListFails(t *testing.T) {
	const want = `element 0: associative list with keys has an element that omits all key fields ["id"] (and doesn't have default values for any key fields)`
	w := world{t: t, kind: things}
	w.live = w.object(0, `{"metadata":{"uid":"u"},"choices":[{}],"size":1}`)
	assert.EqualError(t, w.apply("a", `{"choices":[{"id":"x"}]}`), "failed to create manager for existing fields: "+want)
	w.live.GetObjectMeta().ManagedFields = []meta.ManagedFieldsEntry{{Manager: "x", Operation: "Update", APIVersion: "example.com/v1", FieldsType: "FieldsV1",
		FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:size":{}}`)}}}
	assert.EqualError(t, w.apply("a", `{"choices":[{"id":"x"}]}`), "failed to merge config: "+want)
}

// A restored object may have a record that a client or another server wrote.
func TestGivenRecordsAreReadAndWrittenAgain(t *testing.T) {
	entry := meta.ManagedFieldsEntry{Manager: "m", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{ "f:b":{},"f:a":{}}`)}}
	got, known, err := Given([]meta.ManagedFieldsEntry{entry})
	require.NoError(t, err)
	assert.True(t, known)
	assert.Equal(t, []string{`m U - {"f:a":{},"f:b":{}}`}, short(got))

	for _, none := range [][]meta.ManagedFieldsEntry{{}, {{}}} {
		got, known, err = Given(none)
		require.NoError(t, err)
		assert.True(t, known, "no managers")
		assert.Empty(t, got)
	}
	got, known, err = Given(nil)
	require.NoError(t, err)
	assert.False(t, known)
	assert.Empty(t, got)

	entry.Operation = "Read"
	_, known, err = Given([]meta.ManagedFieldsEntry{entry})
	assert.EqualError(t, err, "operation must be `Apply` or `Update`")
	assert.True(t, known)
}

// A comparison of such lists fails even if nothing changes, so the managers in the request do not count.
func TestRenewalOfAnInvalidListKeepsTheManagers(t *testing.T) {
	managers := func(name string) []meta.ManagedFieldsEntry {
		return []meta.ManagedFieldsEntry{{
			Manager: name, Operation: "Update", APIVersion: "example.com/v1", FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:on":{}}`)},
		}}
	}
	live := &thing{Choices: []choice{{}}, On: new(true)}
	live.UID, live.ManagedFields = "u", managers("before")
	next := things.Versions[0].Type.Copy(live).(*thing)
	next.ManagedFields = managers("sent")
	things.Update(0, live, next, "m", at(1))
	assert.Equal(t, managers("before"), next.ManagedFields)
}
