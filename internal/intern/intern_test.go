package intern

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// object returns the metadata of an object of its own, which one write made.
func object(second int) *meta.ObjectMeta {
	return &meta.ObjectMeta{
		Namespace: strings.Clone("namespace"), Name: strings.Clone("name"), UID: meta.UID(strings.Clone("uid")), Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
		ManagedFields: []meta.ManagedFieldsEntry{{
			Manager: strings.Clone("manager"), Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1",
			Time: new(meta.NewTime(time.Unix(int64(second), 0))), FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:a":{}}`)},
		}},
	}
}

func sameMap(a, b map[string]string) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// stored interns an object, and checks that it has the same content then.
func stored(t *testing.T, table *Table, m, old *meta.ObjectMeta) *meta.ObjectMeta {
	t.Helper()
	want := m.ManagedFields
	want = append([]meta.ManagedFieldsEntry{}, want...)
	before := *m
	table.Metadata(m, old)
	assert.Equal(t, want, append([]meta.ManagedFieldsEntry{}, m.ManagedFields...))
	before.ManagedFields = m.ManagedFields
	assert.Equal(t, before, *m)
	return m
}

// inSomeTable reports whether share is true for one of many tables: in each of them other values
// have the same slot.
func inSomeTable(share func(table *Table) bool) bool {
	for range 100 {
		if share(New()) {
			return true
		}
	}
	return false
}

func sameText(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }

func TestEqualPartsOfObjectsAreShared(t *testing.T) {
	assert.True(t, inSomeTable(func(table *Table) bool {
		a, b := stored(t, table, object(1), nil), stored(t, table, object(1), nil)
		require.False(t, sameText(a.Name, b.Name))
		later := stored(t, table, object(2), nil)
		require.NotSame(t, &a.ManagedFields[0], &later.ManagedFields[0])
		return sameText(a.Namespace, b.Namespace) && sameMap(a.Labels, b.Labels) && sameMap(a.Annotations, b.Annotations) &&
			&a.ManagedFields[0] == &b.ManagedFields[0] && a.ManagedFields[0].FieldsV1 == later.ManagedFields[0].FieldsV1 &&
			sameText(a.ManagedFields[0].Manager, later.ManagedFields[0].Manager)
	}))
}

func TestPartsOfTheStateBeforeAreShared(t *testing.T) {
	old, next := object(1), object(1)
	next.ManagedFields = old.ManagedFields
	stored(t, New(), next, old)
	assert.True(t, sameText(old.Name, next.Name) && sameText(string(old.UID), string(next.UID)))
	assert.True(t, sameMap(old.Labels, next.Labels))
	assert.Same(t, &old.ManagedFields[0], &next.ManagedFields[0])
	other := object(1)
	other.Labels = map[string]string{"a": "c"}
	assert.Equal(t, "c", stored(t, New(), other, old).Labels["a"])
}

func TestPartsOfARenewedOwnerAreShared(t *testing.T) {
	old, next := object(1), object(2)
	next.ManagedFields[0].FieldsV1 = old.ManagedFields[0].FieldsV1
	stored(t, New(), next, old)
	assert.True(t, sameText(old.ManagedFields[0].Manager, next.ManagedFields[0].Manager))
}

// Each part of an entry distinguishes two lists of one manager and second.
func TestListsThatDifferAreNotShared(t *testing.T) {
	table := New()
	first := stored(t, table, object(1), nil)
	for _, change := range []func(e *meta.ManagedFieldsEntry){
		func(e *meta.ManagedFieldsEntry) { e.Operation = "Apply" },
		func(e *meta.ManagedFieldsEntry) { e.APIVersion = "v2" },
		func(e *meta.ManagedFieldsEntry) { e.FieldsType = "" },
		func(e *meta.ManagedFieldsEntry) { e.Subresource = "status" },
		func(e *meta.ManagedFieldsEntry) { e.Time = new(meta.NewTime(time.Unix(1+slots, 0))) }, // has the same slot
		func(e *meta.ManagedFieldsEntry) { e.FieldsV1 = &meta.FieldsV1{Raw: []byte(`{}`)} },
		func(e *meta.ManagedFieldsEntry) { e.FieldsV1 = nil },
		func(e *meta.ManagedFieldsEntry) { e.Time = nil },
	} {
		m := object(1)
		change(&m.ManagedFields[0])
		assert.NotSame(t, &first.ManagedFields[0], &stored(t, table, m, nil).ManagedFields[0])
		first = stored(t, table, object(1), nil)
	}
}

func TestSetsOfLongerListsAreShared(t *testing.T) {
	list := func() *meta.ObjectMeta {
		m := object(1)
		m.ManagedFields = append(m.ManagedFields, meta.ManagedFieldsEntry{Manager: "b"})
		return m
	}
	assert.True(t, inSomeTable(func(table *Table) bool {
		a, b := stored(t, table, list(), nil), stored(t, table, list(), nil)
		require.NotSame(t, &a.ManagedFields[0], &b.ManagedFields[0])
		return a.ManagedFields[0].FieldsV1 == b.ManagedFields[0].FieldsV1
	}))
}

func TestLargeValuesAreNotKept(t *testing.T) {
	table := New()
	large := func() *meta.ObjectMeta {
		m := object(1)
		m.Namespace, m.Labels["a"] = strings.Repeat("x", maxText+1), strings.Repeat("x", maxValue+1)
		for i := range maxEntries {
			m.Annotations[strings.Repeat("x", i)] = ""
		}
		m.ManagedFields[0].FieldsV1.Raw = []byte(strings.Repeat("x", maxSet+1))
		return m
	}
	a, b := stored(t, table, large(), nil), stored(t, table, large(), nil)
	assert.False(t, sameText(a.Namespace, b.Namespace))
	assert.False(t, sameMap(a.Labels, b.Labels))
	assert.False(t, sameMap(a.Annotations, b.Annotations))
	assert.NotSame(t, a.ManagedFields[0].FieldsV1, b.ManagedFields[0].FieldsV1)
}
