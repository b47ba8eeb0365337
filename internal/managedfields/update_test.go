package managedfields

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestUpdateRecordsTheManagerOfEachField(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("creator", `{"metadata":{"name":"m","labels":{"a":"1"}},"spec":{"holderIdentity":"x"}}`)
	assert.Equal(t, []string{
		`creator U 1 {"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:holderIdentity":{}}}`,
	}, w.record())
	entry := w.live.GetObjectMeta().ManagedFields[0]
	assert.Equal(t, "coordination.k8s.io/v1", entry.APIVersion)
	assert.Equal(t, "FieldsV1", entry.FieldsType)
	assert.Empty(t, entry.Subresource)

	w.update("updater", `{"metadata":{"name":"m","labels":{"a":"2","b":"1"}},"spec":{"holderIdentity":"x"}}`)
	assert.Equal(t, []string{
		`creator U 1 {"f:metadata":{"f:labels":{}},"f:spec":{"f:holderIdentity":{}}}`,
		`updater U 2 {"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}}}`,
	}, w.record(), "the writer owns the changed fields, but not their container")

	w.update("", `{"metadata":{"name":"m","labels":{"a":"2","b":"1"},"finalizers":["x/y"]},"spec":{"holderIdentity":"x"}}`)
	assert.Equal(t, []string{
		`creator U 1 {"f:metadata":{"f:labels":{}},"f:spec":{"f:holderIdentity":{}}}`,
		`updater U 2 {"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}}}`,
		`unknown U 3 {"f:metadata":{"f:finalizers":{".":{},"v:\"x/y\"":{}}}}`,
	}, w.record())

	w.update("updater", `{"metadata":{"name":"m","labels":{"b":"1"}},"spec":{}}`)
	assert.Equal(t, []string{
		`creator U 1 {"f:metadata":{"f:labels":{}}}`,
		`updater U 2 {"f:metadata":{"f:labels":{"f:b":{}}}}`,
	}, w.record(), "a removed field has no owner; a manager without new fields keeps its time")

	w.update("creator", `{"metadata":{"name":"m"},"spec":{}}`)
	assert.Nil(t, w.live.GetObjectMeta().ManagedFields)

	w.update("creator", `{"metadata":{"name":"m","labels":{"a":"1"}},"spec":{}}`)
	assert.Nil(t, w.live.GetObjectMeta().ManagedFields, "an update adds no managedFields to an object without them")
}

func TestUpdateNeverRecordsFieldsOfTheServer(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("m", `{"metadata":{"name":"m","namespace":"n","uid":"u","resourceVersion":"1","generation":2,"selfLink":"/",
		"creationTimestamp":"2024-01-01T00:00:00Z"},"spec":{}}`)
	assert.Nil(t, w.live.GetObjectMeta().ManagedFields)

	w = world{t: t, kind: leases}
	w.update("m", `{"metadata":{"name":"m","generateName":"g","deletionTimestamp":"2024-01-01T00:00:00Z","deletionGracePeriodSeconds":0,
		"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u1"}]},"spec":{}}`)
	assert.Equal(t, []string{
		`m U 1 {"f:metadata":{"f:deletionGracePeriodSeconds":{},"f:deletionTimestamp":{},"f:generateName":{},"f:ownerReferences":{".":{},"k:{\"uid\":\"u1\"}":{}}}}`,
	}, w.record())
}

func TestUpdateOfAnAtomicList(t *testing.T) {
	w := world{t: t, kind: endpointsKind}
	w.update("m", `{"metadata":{},"subsets":[{"addresses":[{"ip":"1"}]}]}`)
	w.update("n", `{"metadata":{},"subsets":[{"addresses":[{"ip":"2"}]}]}`)
	assert.Equal(t, []string{`n U 2 {"f:subsets":{}}`}, w.record())
	w.update("n", `{"metadata":{},"subsets":[{"addresses":[{"ip":"2"},{"ip":"3"}]}]}`)
	assert.Equal(t, []string{`n U 3 {"f:subsets":{}}`}, w.record())
	w.update("m", `{"metadata":{},"subsets":[]}`)
	assert.Nil(t, w.live.GetObjectMeta().ManagedFields)
}

func TestUpdateOfListsWithRepeatedItems(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("m", `{"metadata":{"finalizers":["a/b","a/b","c/d"]},"spec":{}}`)
	assert.Equal(t, []string{`m U 1 {"f:metadata":{"f:finalizers":{".":{},"v:\"a/b\"":{},"v:\"c/d\"":{}}}}`}, w.record())
	w.update("n", `{"metadata":{"finalizers":["a/b","c/d"]},"spec":{}}`)
	assert.Equal(t, []string{
		`m U 1 {"f:metadata":{"f:finalizers":{".":{},"v:\"c/d\"":{}}}}`,
		`n U 2 {"f:metadata":{"f:finalizers":{"v:\"a/b\"":{}}}}`,
	}, w.record(), "an item that is there once is another one")
	w.update("o", `{"metadata":{"finalizers":["a/b","c/d","c/d"]},"spec":{}}`)
	w.update("p", `{"metadata":{"finalizers":["a/b","c/d","c/d","c/d"]},"spec":{}}`)
	assert.Equal(t, []string{
		`m U 1 {"f:metadata":{"f:finalizers":{}}}`,
		`n U 2 {"f:metadata":{"f:finalizers":{"v:\"a/b\"":{}}}}`,
		`p U 4 {"f:metadata":{"f:finalizers":{"v:\"c/d\"":{}}}}`,
	}, w.record())
}

const sentEntry = `{"manager":"%s","operation":"%s","apiVersion":"%s","fieldsType":"%s","fieldsV1":{"f:spec":{"f:holderIdentity":{}}}}`

func TestUpdateWithManagedFieldsInTheBody(t *testing.T) {
	good := fmt.Sprintf(sentEntry, "x", "Update", "coordination.k8s.io/v1", "FieldsV1")
	for name, row := range map[string]struct {
		sent string
		want []string
	}{
		"none":                 {``, []string{`m U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`}},
		"an empty list":        {`,"managedFields":[]`, nil},
		"an empty entry":       {`,"managedFields":[{}]`, nil},
		"a good one":           {`,"managedFields":[` + good + `]`, []string{`x U - {"f:spec":{"f:holderIdentity":{}}}`}},
		"the same twice":       {`,"managedFields":[` + good + `,` + good + `]`, []string{`x U - {"f:spec":{"f:holderIdentity":{}}}`}},
		"an unknown operation": {`,"managedFields":[` + fmt.Sprintf(sentEntry, "x", "Get", "v1", "FieldsV1") + `]`, []string{`m U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`}},
		"no version":           {`,"managedFields":[` + fmt.Sprintf(sentEntry, "x", "Update", "", "FieldsV1") + `]`, []string{`m U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`}},
		"an unknown format":    {`,"managedFields":[` + fmt.Sprintf(sentEntry, "x", "Update", "v1", "FieldsV2") + `]`, []string{`m U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`}},
		"no set":               {`,"managedFields":[` + strings.Replace(good, `{"f:spec"`, `{"spec"`, 1) + `]`, []string{`m U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`}},
		"a version that is not served": {`,"managedFields":[` + fmt.Sprintf(sentEntry, "x", "Update", "apps/v1", "FieldsV1") + `,` + good + `]`,
			[]string{`x U - {"f:spec":{"f:holderIdentity":{}}}`}},
		"an invalid version": {`,"managedFields":[` + fmt.Sprintf(sentEntry, "x", "Update", "a/b/c", "FieldsV1") + `]`,
			[]string{`m U 1 {"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{t: t, kind: leases}
			w.update("m", `{"metadata":{},"spec":{"holderIdentity":"x","strategy":"s"}}`)
			w.update("n", `{"metadata":{`+strings.TrimPrefix(row.sent, ",")+`},"spec":{"holderIdentity":"x","strategy":"s"}}`)
			assert.Equal(t, row.want, w.record())
		})
	}
}

func TestUpdateFitsSentSetsToTheSchema(t *testing.T) {
	w := world{t: t, kind: endpointsKind}
	w.update("m", `{"metadata":{"managedFields":[{"manager":"x","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",
		"fieldsV1":{"f:subsets":{"i:0":{}},"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"u\"}":{".":{},"f:name":{}}},"f:labels":{"f:a":{"f:b":{}}}}}}]}}`)
	assert.Equal(t, []string{
		`x A - {"f:metadata":{"f:labels":{"f:a":{"f:b":{}}},"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}},"f:subsets":{}}`,
	}, w.record())
}

func TestRecordIsSorted(t *testing.T) {
	entry := func(manager, operation, apiVersion, time, subresource string) string {
		return fmt.Sprintf(`{"manager":"%s","operation":"%s","apiVersion":"%s","time":%s,"subresource":"%s","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}`,
			manager, operation, apiVersion, time, subresource)
	}
	const early, late = `"2024-01-01T00:00:01Z"`, `"2024-01-01T00:00:02Z"`
	w := world{t: t, kind: candidates}
	w.update("m", `{"metadata":{"managedFields":[`+strings.Join([]string{
		entry("a", "Update", "coordination.k8s.io/v1beta1", late, ""),
		entry("b", "Update", "coordination.k8s.io/v1beta1", early, ""),
		entry("a", "Update", "coordination.k8s.io/v1beta1", early, "status"),
		entry("a", "Update", "coordination.k8s.io/v1alpha2", early, ""),
		entry("c", "Update", "coordination.k8s.io/v1beta1", "null", ""),
		entry("z", "Apply", "coordination.k8s.io/v1beta1", late, ""),
	}, ",")+`]},"spec":{}}`)
	var got []string
	for _, e := range w.live.GetObjectMeta().ManagedFields {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Manager, e.Operation, e.APIVersion, e.Subresource))
	}
	assert.Equal(t, []string{
		"z Apply coordination.k8s.io/v1beta1 ",
		"c Update coordination.k8s.io/v1beta1 ",
		"a Update coordination.k8s.io/v1alpha2 ",
		"a Update coordination.k8s.io/v1beta1 status",
		"b Update coordination.k8s.io/v1beta1 ",
		"a Update coordination.k8s.io/v1beta1 ",
	}, got)
}

func TestManagersBeyondTheTenthAreMerged(t *testing.T) {
	w := world{t: t, kind: leases}
	labels := `"l":"x"`
	for i := range 12 {
		labels += fmt.Sprintf(`,"l%d":"x"`, i)
		w.update(fmt.Sprintf("m%d", i), `{"metadata":{"labels":{`+labels+`}},"spec":{}}`)
	}
	got := w.record()
	require.Len(t, got, 10)
	assert.Equal(t, `ancient-changes U 3 {"f:metadata":{"f:labels":{".":{},"f:l":{},"f:l0":{},"f:l1":{},"f:l2":{}}}}`, got[0])
	assert.Equal(t, `m3 U 4 {"f:metadata":{"f:labels":{"f:l3":{}}}}`, got[1])
	require.NoError(t, w.apply("a", `{"metadata":{"labels":{"a":"1"}}}`))
	assert.Len(t, w.record(), 11, "appliers do not count")
}

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

func TestEachVersionHasItsOwnEntry(t *testing.T) {
	w := world{t: t, kind: candidates}
	w.update("m", `{"metadata":{},"spec":{"leaseName":"a","strategy":"s"}}`)
	w.updateIn(1, "m", `{"metadata":{"labels":{"a":"1"}},"spec":{"leaseName":"a","strategy":"s"}}`)
	assert.Equal(t, []string{
		`m U 1 {"f:spec":{"f:leaseName":{},"f:strategy":{}}}`,
		`m U 2 {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`,
	}, w.record())
	w.updateIn(2, "n", `{"metadata":{"labels":{"a":"1"}},"spec":{"leaseName":"b","preferredStrategies":["t"]}}`)
	assert.Equal(t, []string{
		`m U 2 {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`,
		`n U 3 {"f:spec":{"f:leaseName":{},"f:preferredStrategies":{}}}`,
	}, w.record(), "a change takes fields from managers of other versions")
	w.update("m", `{"metadata":{"labels":{"a":"1"}},"spec":{"leaseName":"b","strategy":"u"}}`)
	assert.Equal(t, []string{
		`m U 2 {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`,
		`n U 3 {"f:spec":{"f:leaseName":{}}}`,
		`m U 4 {"f:spec":{"f:strategy":{}}}`,
	}, w.record())
}

func TestUpdateThatCannotBeConvertedKeepsTheRecord(t *testing.T) {
	w := world{t: t, kind: candidates}
	w.update("m", `{"metadata":{"finalizers":["a/b","a/b"]},"spec":{"leaseName":"a"}}`)
	before := w.record()
	w.updateIn(1, "n", `{"metadata":{"finalizers":["a/b","a/b"]},"spec":{"leaseName":"b"}}`)
	assert.Equal(t, before, w.record(), "repeated items do not survive a conversion upstream")
}

func TestItemsWithKeys(t *testing.T) {
	w := world{t: t, kind: things}
	w.update("m", `{"metadata":{},"items":[{"name":"a","port":1,"value":"x","tags":["s"]},{"name":"a"}],"numbers":[3,-1],"parts":{"p":{"a":"x"}},"on":true,"size":1.5}`)
	assert.Equal(t, []string{
		`m U 1 {"f:items":{".":{},"k:{\"name\":\"a\"}":{".":{},"f:name":{}},` +
			`"k:{\"name\":\"a\",\"port\":1}":{".":{},"f:name":{},"f:port":{},"f:tags":{".":{},"v:\"s\"":{}},"f:value":{}}},"f:numbers":{".":{},"v:-1":{},"v:3":{}},"f:on":{},"f:parts":{".":{},"f:p":{".":{},"f:a":{}}},"f:size":{}}`,
	}, w.record())
	w.update("n", `{"metadata":{},"items":[{"name":"a"},{"name":"a","port":1,"value":"y","tags":["s","t"]}],"numbers":[-1],"parts":{"p":{"a":"x","b":2},"q":{}},"part":{},"on":false,"size":1.5}`)
	assert.Equal(t, []string{
		`m U 1 {"f:items":{".":{},"k:{\"name\":\"a\"}":{".":{},"f:name":{}},` +
			`"k:{\"name\":\"a\",\"port\":1}":{".":{},"f:name":{},"f:port":{},"f:tags":{".":{},"v:\"s\"":{}}}},"f:numbers":{".":{},"v:-1":{}},"f:parts":{".":{},"f:p":{".":{},"f:a":{}}},"f:size":{}}`,
		`n U 2 {"f:items":{"k:{\"name\":\"a\",\"port\":1}":{"f:tags":{"v:\"t\"":{}},"f:value":{}}},"f:on":{},"f:part":{},"f:parts":{"f:p":{"f:b":{}},"f:q":{}}}`,
	}, w.record(), "order does not matter")
}

func TestItemsWithEqualKeysKeepTheRecord(t *testing.T) {
	w := world{t: t, kind: things}
	w.update("m", `{"metadata":{},"size":1}`)
	before := w.record()
	w.update("n", `{"metadata":{},"size":2,"choices":[{}]}`)
	assert.Equal(t, before, w.record())
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

func TestEntriesHaveAnOrder(t *testing.T) {
	time := func(second int) *meta.Time { return new(meta.NewTime(at(second))) }
	sorted := []meta.ManagedFieldsEntry{
		{Operation: "Apply", Time: time(2), Manager: "b"},
		{Operation: "Update", Manager: "z"},
		{Operation: "Update", Time: time(1), Manager: "b", APIVersion: "v1"},
		{Operation: "Update", Time: time(1), Manager: "b", APIVersion: "v2"},
		{Operation: "Update", Time: time(1), Manager: "b", APIVersion: "v2", Subresource: "status"},
		{Operation: "Update", Time: time(1), Manager: "c", APIVersion: "v1"},
		{Operation: "Update", Time: time(2), Manager: "a", APIVersion: "v1"},
	}
	for i := range sorted {
		for j := range sorted {
			assert.Equal(t, cmp.Compare(i, j), compareEntries(&sorted[i], &sorted[j]), "%d and %d", i, j)
		}
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
