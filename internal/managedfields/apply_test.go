package managedfields

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestApplyRemovesAnItemBesideRepeatedOnes(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("u", `{"metadata":{"finalizers":["a/1","a/1"]},"spec":{}}`)
	require.NoError(t, w.apply("a", `{"metadata":{"finalizers":["a/2"]}}`))
	assert.Equal(t, `{"metadata":{"finalizers":["a/1","a/1","a/2"]},"spec":{}}`, w.doc())
	require.NoError(t, w.apply("a", `{}`))
	assert.Equal(t, `{"metadata":{"finalizers":["a/1","a/1"]},"spec":{}}`, w.doc())
}

func TestApplyAfterAVersionIsGone(t *testing.T) {
	w := world{t: t, kind: leases}
	w.update("m", `{"metadata":{},"spec":{"strategy":"s"}}`)
	w.live.GetObjectMeta().ManagedFields = append(w.live.GetObjectMeta().ManagedFields,
		meta.ManagedFieldsEntry{Manager: "a", Operation: "Apply", APIVersion: "coordination.k8s.io/v0", FieldsType: "FieldsV1",
			FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:spec":{"f:strategy":{}}}`)}})
	require.NoError(t, w.apply("a", `{"spec":{"preferredHolder":"p"}}`))
	assert.Equal(t, []string{`a A 2 {"f:spec":{"f:preferredHolder":{}}}`, `m U 1 {"f:spec":{"f:strategy":{}}}`}, w.record())
}

func TestApplyOfTheWrongType(t *testing.T) {
	for name, row := range map[string]struct{ config, want string }{
		"no type":         {`{"apiVersion":"","kind":""}`, "invalid object type: /, Kind="},
		"another kind":    {`{"kind":"Other"}`, "invalid object type: coordination.k8s.io/v1, Kind=Other"},
		"another version": {`{"apiVersion":"coordination.k8s.io/v2"}`, "invalid object type: coordination.k8s.io/v2, Kind=Lease"},
		"no group":        {`{"apiVersion":"v1"}`, "invalid object type: /v1, Kind=Lease"},
		"no version":      {`{"apiVersion":"a/b/c"}`, "invalid object type: /, Kind="},
		"not even text":   {`{"apiVersion":1,"kind":[]}`, "invalid object type: /, Kind="},
		"a record":        {`{"metadata":{"managedFields":[]}}`, "metadata.managedFields must be nil"},
		"entries":         {`{"metadata":{"managedFields":[{"manager":"x"}]},"zzz":1}`, "metadata.managedFields must be nil"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{t: t, kind: leases}
			status := meta.StatusOf(w.apply("a", row.config))
			assert.Equal(t, row.want, status.Message)
			assert.Equal(t, int32(400), status.Code)
		})
	}
}

func TestApplyWhoseResultCannotBeConverted(t *testing.T) {
	w := world{t: t, kind: gadgets}
	require.NoError(t, w.applyIn(1, "a", false, `{"spec":{"count":1}}`))
	for manager, want := range map[string]string{
		"a": "failed to prune fields: failed to convert merged object to last applied version: ",
		"b": "failed to convert new object: ",
	} {
		assert.EqualError(t, w.applyIn(0, manager, false, `{"spec":{"count":1.5}}`),
			want+"unable to convert unstructured object to example.com/v1, Kind=Gadget: cannot convert float64 to int32")
	}
	assert.ErrorContains(t, w.applyIn(0, "b", true, `{"spec":{"count":1.5}}`), "failed to convert new object: ")
	w.live.GetObjectMeta().ManagedFields[0].Operation = ""
	assert.EqualError(t, w.apply("a", `{}`), "failed to decode managed fields: operation must be `Apply` or `Update`")
}

func TestApplyAsKubectlReadsTheLastAppliedAnnotation(t *testing.T) {
	const annotated = `{"metadata":{"name":"x","annotations":{"kubectl.kubernetes.io/last-applied-configuration":` +
		`"{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{\"strategy\":\"s\"}}"},"labels":{"a":"1","b":"1"}},` +
		`"spec":{"strategy":"s","preferredHolder":"p"}}`
	w := world{t: t, kind: leases}
	w.update("kubectl-client-side-apply", annotated)
	assert.ErrorContains(t, w.apply("other", `{"spec":{"strategy":"t"}}`), "Apply failed with 1 conflict")
	assert.EqualError(t, w.apply("kubectl", `{"spec":{"strategy":"t","preferredHolder":"q"}}`),
		`Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using coordination.k8s.io/v1: .spec.preferredHolder`)
	require.NoError(t, w.apply("kubectl", `{"metadata":{"labels":{"a":"2"},"annotations":{"n":null}},"spec":{"strategy":"t<"}}`))
	annotation := w.live.GetObjectMeta().Annotations[lastAppliedAnnotation]
	assert.Equal(t, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"annotations":{"n":""},"labels":{"a":"2"}},"spec":{"strategy":"t\u003c"}}`+"\n", annotation)

	require.NoError(t, w.apply("kubectl", `{"metadata":{"labels":{"a":"`+strings.Repeat("x", maxAnnotations)+`"}},"spec":{"strategy":"t<"}}`))
	assert.NotContains(t, w.live.GetObjectMeta().Annotations, lastAppliedAnnotation, "an annotation that does not fit is removed")
}

// Upstream cannot compare such an object with the annotation.
func TestApplyAsKubectlIgnoresTheAnnotationOfAnObjectWithRepeatedItems(t *testing.T) {
	w := world{t: t, kind: leases}
	o := w.object(0, `{"metadata":{"finalizers":["a/b","a/b"]},"spec":{"strategy":"s"}}`)
	o.GetObjectMeta().Annotations = map[string]string{lastAppliedAnnotation: `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"strategy":"s"}}`}
	w.updateTo(0, "u", o)
	assert.EqualError(t, w.apply("kubectl", `{"spec":{"strategy":"t"}}`),
		`Apply failed with 1 conflict: conflict with "u" using coordination.k8s.io/v1: .spec.strategy`)
}

func TestApplyAsKubectlIgnoresAnUnusableAnnotation(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":         `{`,
		"another version": `{"apiVersion":"v1","kind":"Lease","spec":{"strategy":"s"}}`,
		"another kind":    `{"apiVersion":"coordination.k8s.io/v1","kind":"Other","spec":{"strategy":"s"}}`,
		"unknown fields":  `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"strategy":"s"},"zzz":1}`,
		"another value":   `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"strategy":"r"}}`,
		"another field":   `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{}}`,
		"empty":           ``,
	} {
		t.Run(name, func(t *testing.T) {
			w := world{t: t, kind: leases}
			o := w.object(0, `{"metadata":{},"spec":{"strategy":"s"}}`)
			o.GetObjectMeta().Annotations = map[string]string{lastAppliedAnnotation: text}
			leases.Update(0, nil, o, "u", at(0))
			w.keep(0, o)
			assert.EqualError(t, w.apply("kubectl", `{"spec":{"strategy":"t"}}`),
				`Apply failed with 1 conflict: conflict with "u" using coordination.k8s.io/v1: .spec.strategy`)
		})
	}
}

func FuzzApply(f *testing.F) {
	for _, seed := range [][2]string{
		{`{}`, `{"spec":{"holderIdentity":"x","leaseTransitions":1}}`},
		{`{"metadata":{"labels":{"a":"1"},"finalizers":["x/a","x/a","x/b"]},"spec":{"strategy":"s"}}`, `{"metadata":{"labels":null,"finalizers":["x/b","x/a"]}}`},
		{`{"metadata":{"ownerReferences":[{"uid":"u1"},{"uid":"u2","name":"n"}]}}`, `{"metadata":{"ownerReferences":[{"uid":"u2","name":"m"},{"name":"o"}]},"spec":null}`},
		{`{"spec":{"renewTime":"2024-01-01T00:00:00.000000Z"}}`, `{"spec":{"renewTime":"2024-01-01T02:00:00.000000+02:00"}}`},
		{`{"metadata":{"managedFields":[{"manager":"a","operation":"Apply","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{},"f:metadata":{"f:labels":{".":{}}}}}]}}`, `{"metadata":{}}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, live, config string) {
		var liveDoc, doc map[string]any
		if kjson.UnmarshalCaseSensitivePreserveInts([]byte(live), &liveDoc) != nil ||
			kjson.UnmarshalCaseSensitivePreserveInts([]byte(config), &doc) != nil || doc == nil {
			return
		}
		typ := leases.Versions[0].Type
		o := leases.empty(0)
		if _, err := typ.FromUnstructured(liveDoc, o, false); err != nil {
			return
		}
		leases.Update(0, nil, o, "u", at(0))
		before := typ.Copy(o)
		doc["apiVersion"], doc["kind"] = "coordination.k8s.io/v1", "Lease"
		sent := appendValue(nil, doc)
		opts := ApplyOptions{Manager: "a", Force: true, Now: at(1)}
		once, _, err := leases.Apply(0, o, doc, opts)
		if string(appendValue(nil, doc)) != string(sent) || !typ.Equal(before, typ.Copy(o)) {
			t.Fatal("arguments have changed")
		}
		if err != nil {
			return
		}
		opts.Now = at(2)
		twice, _, err := leases.Apply(0, once, doc, opts)
		if err != nil {
			t.Fatal(err)
		}
		m, n := once.GetObjectMeta(), twice.GetObjectMeta()
		if !SameOwners(m.ManagedFields, n.ManagedFields) {
			t.Fatalf("owners %v, then %v", short(m.ManagedFields), short(n.ManagedFields))
		}
		n.ManagedFields, n.Annotations, m.Annotations = m.ManagedFields, nil, nil
		if !typ.Equal(typ.Copy(once), typ.Copy(twice)) {
			t.Fatalf("%s, then %s", appendValue(nil, typ.ToUnstructured(once)), appendValue(nil, typ.ToUnstructured(twice)))
		}
	})
}

// A conflict says how many fields there are, and names those whose paths fit 1 MiB.
func TestConflictsOverManyFieldsNameSome(t *testing.T) {
	const fields = 3000
	config := func(value string) string {
		labels := make([]string, fields)
		for i := range labels {
			labels[i] = fmt.Sprintf("%q:%q", fmt.Sprintf("%04d%s", i, strings.Repeat("x", 1000)), value)
		}
		return `{"metadata":{"labels":{` + strings.Join(labels, ",") + `}}}`
	}
	w := world{t: t, kind: leases}
	require.NoError(t, w.apply("a", config("1")))
	status := meta.StatusOf(w.apply("b", config("2")))
	const path = len(".metadata.labels.0000") + 1000
	assert.Len(t, status.Details.Causes, (1<<20+path-1)/path)
	assert.True(t, strings.HasPrefix(status.Message, "Apply failed with 3000 conflicts: conflicts with \"a\":\n- .metadata.labels.0000x"))
	assert.Equal(t, len(status.Details.Causes), strings.Count(status.Message, "\n- "))
	require.NoError(t, w.force("b", config("2")), "all of them are taken")
	assert.Len(t, w.record(), 1)
}
