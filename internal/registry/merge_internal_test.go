package registry

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// mergeObject has each form of field that a merge patch can change.
type mergeObject struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            mergeSpec  `json:"spec" protobuf:"2"`
	Next            *mergeSpec `json:"next,omitempty" protobuf:"3"`
}

type mergeSpec struct {
	Text    string            `json:"text" protobuf:"1"`
	Maybe   *string           `json:"maybe" protobuf:"2"`
	Count   *int32            `json:"count,omitempty" protobuf:"3"`
	Flag    bool              `json:"flag,omitempty" protobuf:"4"`
	Ratio   float64           `json:"ratio,omitempty" protobuf:"5"`
	Data    []byte            `json:"data" protobuf:"6"`
	At      meta.MicroTime    `json:"at,omitzero" protobuf:"7"`
	Names   map[string]string `json:"names" protobuf:"8"`
	Numbers map[string]int32  `json:"numbers,omitempty" protobuf:"9"`
	List    []mergeSpec       `json:"list,omitempty" protobuf:"10"`
	Child   *mergeSpec        `json:"child,omitempty" protobuf:"11"`
	Raw     *meta.FieldsV1    `json:"raw,omitempty" protobuf:"12"`
	When    *meta.MicroTime   `json:"when,omitempty" protobuf:"13"`
}

// mergePatches are patches, and whether they are ordinary.
var mergePatches = []struct {
	text     string
	ordinary bool
}{
	{`{}`, true}, {` { "spec" : { "text" : "b" } } `, true}, {`{"spec":{"text":null,"maybe":null,"count":null,"names":null,"list":null,"child":null,"raw":null,"at":null}}`, true},
	{`{"spec":{"names":{"a":null,"c":"d"}}}`, true}, {`{"spec":{"child":{"names":{"a":null}}}}`, true}, {`{"next":{}}`, true}, {`{"next":{"child":{"count":7}}}`, true}, {`{"next":null}`, true},
	{`{"metadata":{"labels":{"a":"1"},"annotations":{"b":"<\u003c\n"},"finalizers":["x/y"],"ownerReferences":[],"managedFields":[{"manager":"m"}]}}`, true}, {`{"metadata":null}`, true},
	{`{"spec":{"list":[{"text":"x","names":{"k":"v"}},{}],"data":"AQI=","ratio":1.50,"flag":true,"at":"2026-01-02T03:04:05.000001Z"}}`, true},
	{`{"kind":"Merge","apiVersion":"example.com/v1"}`, true},
	{``, false}, {`null`, false}, {`[]`, false}, {`1`, false}, {`{`, false}, {`{}{}`, false}, {`{"zzz":1}`, false}, {`{"kind":"Other"}`, false}, {`{"apiVersion":null}`, false}, {`{"Spec":{}}`, false},
	{`{"spec":{"text":"a","text":"b"}}`, false}, {`{"spec":{"names":{"a":"1","a":"2"}}}`, false}, {`{"spec":{"names":{"a":1}}}`, false}, {`{"spec":{"numbers":{"a":1}}}`, false},
	{`{"spec":{"list":[null]}}`, false}, {`{"spec":{"list":[{"text":null}]}}`, true}, {`{"spec":{"list":[{"maybe":null}]}}`, true}, {`{"spec":{"list":[{"names":{"a":null}}]}}`, true},
	{`{"spec":{"raw":{"f:a":{}}}}`, false}, {`{"metadata":{"managedFields":[{"fieldsV1":{"b":{},"a":{}}}]}}`, false}, {`{"spec":{"count":1.0}}`, false}, {`{"spec":"text"}`, false}, {`{"spec":{"text":{}}}`, false},
}

func newMergeKind(t testing.TB) kinds.Target {
	t.Helper()
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Merge", Plural: "merges", Singular: "merge"},
		New:      func() kinds.Object { return new(mergeObject) },
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
	})
	require.NoError(t, err)
	return kinds.Target{Kind: k}
}

// sameAsDocument applies a patch to the fields and to the document, and compares the
// results. It returns whether the patch is ordinary.
func sameAsDocument(t testing.TB, to kinds.Target, live *mergeObject, text []byte, v patch.Validation) bool {
	t.Helper()
	current := newItem(to.Kind, live, 1)
	before, err := current.Encoded(0, kinds.JSON)
	require.NoError(t, err)
	before = bytes.Clone(before)
	c := &Patch{Type: MergePatch, Data: text, Validation: v, Scheme: kinds.NewScheme(to.Kind)}
	got, ok := c.mergeOrdinary(to, current)
	after, err := to.Schema().AppendJSON(nil, live)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the live object does not change")
	if !ok {
		return false
	}
	want, err := c.document(t.Context(), to, current, &Request{Warn: func(text string) { require.Empty(t, text, "a warning") }})
	require.NoError(t, err, "%s", text)
	require.Equal(t, want, got, "%s", text)
	return true
}

func mergeLives() []*mergeObject {
	spec := func() mergeSpec {
		return mergeSpec{
			Text: "a", Maybe: new("m"), Count: new(int32(1)), Ratio: 1.5, Data: []byte("x"), Names: map[string]string{"a": "b"}, Numbers: map[string]int32{"a": 1},
			List: []mergeSpec{{Text: "i"}, {}}, Raw: &meta.FieldsV1{Raw: []byte(` {"f:<":{} } `)},
		}
	}
	full := &mergeObject{ObjectMeta: meta.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b", "c": "d"}, ManagedFields: []meta.ManagedFieldsEntry{{Manager: "x", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:a":{}}`)}}}}, Spec: spec(), Next: new(spec())}
	full.Spec.Child = new(spec())
	plain := &mergeObject{ObjectMeta: full.ObjectMeta, Spec: mergeSpec{
		Text: "ä", Maybe: new("m"), Count: new(int32(1)), Ratio: 1.5, Data: []byte("x"), Names: map[string]string{"a": "b"},
		List: []mergeSpec{{Text: "i"}, {}}, Raw: &meta.FieldsV1{Raw: []byte(`{"f:a":{}}`)}, When: new(meta.NewMicroTime(time.Unix(1, 1))),
	}}
	return []*mergeObject{
		{}, full, {Spec: mergeSpec{Text: "\xff", Names: map[string]string{}}}, plain,
		{ObjectMeta: meta.ObjectMeta{Labels: map[string]string{}}, Spec: mergeSpec{When: new(meta.MicroTime{}), Data: []byte{}}},
	}
}

func TestOrdinaryMergeIsTheMergeOfDocuments(t *testing.T) {
	to := newMergeKind(t)
	for _, live := range mergeLives() {
		for _, p := range mergePatches {
			assert.Equal(t, p.ordinary, sameAsDocument(t, to, live, []byte(p.text), patch.Warn), p.text)
			assert.Equal(t, p.ordinary, sameAsDocument(t, to, live, []byte(p.text), patch.Strict), p.text)
		}
	}
	assert.False(t, sameAsDocument(t, to, mergeLives()[0], []byte(`{}`), patch.Ignore), "a custom resource")
}

// FuzzMergeOrdinary compares merging fields with merging documents.
func FuzzMergeOrdinary(f *testing.F) {
	to, lives := newMergeKind(f), mergeLives()
	for _, p := range mergePatches {
		for live := range lives {
			f.Add([]byte(p.text), byte(live))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, live byte) {
		sameAsDocument(t, to, lives[int(live)%len(lives)], text, patch.Strict)
	})
}
