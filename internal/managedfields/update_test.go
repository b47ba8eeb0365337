package managedfields

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The oldest managers are merged, wherever they stand in the list, and each version by itself.
func TestOldestManagersOfAVersionAreMerged(t *testing.T) {
	w := world{t: t, kind: candidates}
	var entries []string
	for i := range 11 {
		entries = append(entries, fmt.Sprintf(
			`{"manager":"m%d","operation":"Update","apiVersion":"coordination.k8s.io/%s","time":"2024-01-01T00:00:%dZ","fieldsType":"FieldsV1","fieldsV1":{"f:l%d":{}}}`,
			i, []string{"v1beta1", "v1alpha2"}[i%2], 50-i, i))
	}
	w.update("m", `{"metadata":{"managedFields":[`+strings.Join(entries, ",")+`]},"spec":{}}`)
	got := w.record()
	require.Len(t, got, 10)
	assert.Equal(t, []string{
		`m9 U 41 {"f:l9":{}}`,
		`ancient-changes U 42 {"f:l10":{},"f:l8":{}}`,
		`m7 U 43 {"f:l7":{}}`,
	}, got[:3])
	assert.Equal(t, "coordination.k8s.io/v1beta1", w.live.GetObjectMeta().ManagedFields[1].APIVersion)
}

func TestManagerNamesAreUTF8(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("a\xff\xfe", `{"metadata":{},"spec":{"strategy":"s"}}`)
	assert.Equal(t, "a\ufffd\ufffd", w.live.GetObjectMeta().ManagedFields[0].Manager)
}

func TestRenewal(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("a", `{"metadata":{"labels":{"x":"1"}},"spec":{"holderIdentity":"a","renewTime":"2024-01-01T00:00:01.000000Z"}}`)
	w.update("b", `{"metadata":{"labels":{"x":"1"}},"spec":{"holderIdentity":"b","renewTime":"2024-01-01T00:00:01.000000Z"}}`)
	live := w.live.GetObjectMeta().ManagedFields
	w.update("a", `{"metadata":{"labels":{"x":"1"}},"spec":{"holderIdentity":"b","renewTime":"2024-01-01T00:00:03.000000Z"}}`)
	assert.Equal(t, []string{
		`b U 2 {"f:spec":{"f:holderIdentity":{}}}`,
		`a U 3 {"f:metadata":{"f:labels":{".":{},"f:x":{}}},"f:spec":{"f:renewTime":{}}}`,
	}, w.record())
	assert.Equal(t, 1, live[0].Time.Second(), "the old record does not change")
	assert.Same(t, live[0].FieldsV1, w.live.GetObjectMeta().ManagedFields[1].FieldsV1, "sets are shared")
	w.update("a", `{"metadata":{"labels":{"x":"1"}},"spec":{"holderIdentity":"b","renewTime":"2024-01-01T00:00:03.000000Z"}}`)
	assert.Equal(t, 3, w.live.GetObjectMeta().ManagedFields[1].Time.Second(), "no change, no new time")
}

func TestSameOwners(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("m", `{"metadata":{},"spec":{"strategy":"s"}}`)
	a := w.live.GetObjectMeta().ManagedFields
	later := slices.Clone(a)
	later[0].Time = new(meta.NewTime(at(30)))
	assert.True(t, SameOwners(a, later))
	assert.True(t, SameOwners(nil, nil))
	assert.False(t, SameOwners(a, nil))
	for _, change := range []func(e *meta.ManagedFieldsEntry){
		func(e *meta.ManagedFieldsEntry) { e.Manager = "n" },
		func(e *meta.ManagedFieldsEntry) { e.Operation = "Apply" },
		func(e *meta.ManagedFieldsEntry) { e.APIVersion = "v1" },
		func(e *meta.ManagedFieldsEntry) { e.FieldsType = "" },
		func(e *meta.ManagedFieldsEntry) { e.Subresource = "status" },
		func(e *meta.ManagedFieldsEntry) { e.FieldsV1 = nil },
		func(e *meta.ManagedFieldsEntry) { e.FieldsV1 = &meta.FieldsV1{Raw: []byte(`{}`)} },
	} {
		other := slices.Clone(a)
		change(&other[0])
		assert.False(t, SameOwners(a, other))
	}
}

// A record that was restored may have more updaters than one that this package wrote.
func TestRenewalRefusesTooManyManagers(t *testing.T) {
	w := world{t: t, kind: leases}
	w.live = w.object(0, `{"metadata":{"uid":"u"},"spec":{"strategy":"s"}}`)
	m := w.live.GetObjectMeta()
	for i := range maxUpdaters + 1 {
		m.ManagedFields = append(m.ManagedFields, meta.ManagedFieldsEntry{Manager: fmt.Sprintf("m%02d", i), Operation: "Update",
			APIVersion: "coordination.k8s.io/v1", FieldsType: "FieldsV1", Time: new(meta.NewTime(at(0))),
			FieldsV1: &meta.FieldsV1{Raw: fmt.Appendf(nil, `{"f:l%d":{}}`, i)}})
	}
	m.ManagedFields[3].FieldsV1.Raw = []byte(`{"f:spec":{"f:strategy":{}}}`)
	w.update("m03", `{"metadata":{},"spec":{"strategy":"t"}}`)
	assert.Len(t, w.live.GetObjectMeta().ManagedFields, maxUpdaters)
}

func TestWritesThatAreNoRenewal(t *testing.T) {
	set := func(manager, operation, fields string) meta.ManagedFieldsEntry {
		return meta.ManagedFieldsEntry{Manager: manager, Operation: meta.ManagedFieldsOperationType(operation), APIVersion: "coordination.k8s.io/v1",
			FieldsType: "FieldsV1", Time: new(meta.NewTime(at(0))), FieldsV1: &meta.FieldsV1{Raw: []byte(fields)}}
	}
	own := set("a", "Update", `{"f:spec":{"f:strategy":{}}}`)
	for name, row := range map[string]struct {
		had  []meta.ManagedFieldsEntry
		want []string
	}{
		"others have the field too": {
			[]meta.ManagedFieldsEntry{set("b", "Apply", `{"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`), own},
			[]string{`b A 0 {"f:spec":{"f:holderIdentity":{}}}`, `a U 1 {"f:spec":{"f:strategy":{}}}`},
		},
		"the writer does not have it": {
			[]meta.ManagedFieldsEntry{set("a", "Update", `{"f:spec":{"f:holderIdentity":{}}}`)},
			[]string{`a U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`},
		},
		"the set has another form": {
			[]meta.ManagedFieldsEntry{set("a", "Update", `{"f:spec":{"f:strategy":{},"f:holderIdentity":{}}}`)},
			[]string{`a U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`},
		},
		"somebody has a system field": {
			[]meta.ManagedFieldsEntry{set("b", "Update", `{"f:metadata":{"f:uid":{}},"f:spec":{"f:holderIdentity":{}}}`), own},
			[]string{`b U 0 {"f:spec":{"f:holderIdentity":{}}}`, `a U 1 {"f:spec":{"f:strategy":{}}}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{t: t, kind: leases}
			w.live = w.object(0, `{"metadata":{"uid":"u"},"spec":{"holderIdentity":"h","strategy":"s"}}`)
			w.live.GetObjectMeta().ManagedFields = row.had
			w.update("a", `{"metadata":{},"spec":{"holderIdentity":"h","strategy":"t"}}`)
			assert.Equal(t, row.want, w.record())
		})
	}
}

// named has members outside metadata with the names of system fields.
type named struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Name       string `json:"name,omitempty"`
		Generation int32  `json:"generation,omitempty"`
	} `json:"spec"`
}

func TestOnlyMetadataHasSystemFields(t *testing.T) {
	w := world{t: t, kind: &FieldManager{Name: "Named", Versions: []Version{versionOf[named]("example.com/v1")}}}
	w.update("a", `{"metadata":{},"spec":{"name":"n","generation":1}}`)
	w.update("b", `{"metadata":{},"spec":{"name":"o","generation":1}}`)
	w.update("b", `{"metadata":{},"spec":{"name":"o","generation":2}}`)
	assert.Equal(t, []string{`b U 3 {"f:spec":{"f:generation":{},"f:name":{}}}`}, w.record())
	w.update("a", `{"metadata":{"labels":{"name":"n"}},"spec":{"name":"o","generation":2}}`)
	w.update("b", `{"metadata":{"labels":{"name":"o"}},"spec":{"name":"o","generation":2}}`)
	assert.Equal(t, []string{
		`a U 4 {"f:metadata":{"f:labels":{}}}`,
		`b U 5 {"f:metadata":{"f:labels":{"f:name":{}}},"f:spec":{"f:generation":{},"f:name":{}}}`,
	}, w.record())
}
