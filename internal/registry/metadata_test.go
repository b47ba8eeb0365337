package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func owner(uid meta.UID) meta.OwnerReference {
	return meta.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: uid}
}

func owners(refs ...meta.OwnerReference) func(*lease.Lease) {
	return func(l *lease.Lease) { l.OwnerReferences = refs }
}

func TestMetadataIsChecked(t *testing.T) {
	const (
		keyRule   = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
		valueRule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	)
	controller := func(name string) meta.OwnerReference {
		return meta.OwnerReference{APIVersion: "v1", Kind: "K", Name: name, UID: meta.UID(name), Controller: new(true)}
	}
	annotations := func(k, v string) func(*lease.Lease) {
		return func(l *lease.Lease) { l.Annotations = map[string]string{k: v} }
	}
	managed := func(e meta.ManagedFieldsEntry) func(*lease.Lease) {
		return func(l *lease.Lease) { l.ManagedFields = []meta.ManagedFieldsEntry{e} }
	}
	for name, row := range map[string]struct {
		change func(*lease.Lease)
		want   string
	}{
		"a negative generation":      {func(l *lease.Lease) { l.Generation = -4 }, "metadata.generation: Invalid value: -4: must be greater than or equal to 0"},
		"a label":                    {label("example.com/k", "v"), ""},
		"a label with a bad key":     {label("-", "v"), `metadata.labels: Invalid value: "-": ` + keyRule},
		"a label with a bad value":   {label("k", "-"), `metadata.labels: Invalid value: "-": ` + valueRule},
		"a label without a name":     {label("example.com/", "v"), "metadata.labels: Invalid value: \"example.com/\": name part must be non-empty|" + keyRule},
		"a label without a prefix":   {label("/k", "v"), `metadata.labels: Invalid value: "/k": prefix part must be non-empty`},
		"an annotation":              {annotations("Example.com/k", "any\x00thing"), ""},
		"an annotation with bad key": {annotations("a b", "v"), `metadata.annotations: Invalid value: "a b": ` + keyRule},
		"annotations of 256 KiB":     {annotations("k", strings.Repeat("x", 256<<10-1)), ""},
		"annotations of a byte more": {annotations("k", strings.Repeat("x", 256<<10)), "metadata.annotations: Too long: may not be more than 262144 bytes"},
		"an owner":                   {owners(owner("u")), ""},
		"an owner of nothing": {owners(meta.OwnerReference{}),
			"metadata.ownerReferences[0].apiVersion: Required value: must not be empty|metadata.ownerReferences[0].kind: Required value: must not be empty|metadata.ownerReferences[0].name: Required value: must not be empty|metadata.ownerReferences[0].uid: Required value: must not be empty"},
		"an owner of a bad version": {owners(meta.OwnerReference{APIVersion: "a/b/c", Kind: "K", Name: "n", UID: "u"}),
			`metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>`},
		"an event as owner": {owners(meta.OwnerReference{APIVersion: "v1", Kind: "Event", Name: "n", UID: "u"}),
			`metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`},
		"two controllers": {owners(controller("n"), controller("n2")),
			`metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"K","name":"n","uid":"n","controller":true},{"apiVersion":"v1","kind":"K","name":"n2","uid":"n2","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for K/n and K/n2`},
		"a controller and another": {owners(controller("n"), owner("u")), ""},
		"finalizers":               {finalizers("abc", "example.com/f", "abc"), ""},
		"a bad finalizer":          {finalizers("a/b/c"), `metadata.finalizers: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`},
		"two policies at once":     {finalizers("orphan", "foregroundDeletion"), `metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`},
		"a managed field":          {managed(meta.ManagedFieldsEntry{Manager: "m", Operation: "Update", FieldsType: "FieldsV1"}), ""},
		"another operation":        {managed(meta.ManagedFieldsEntry{Operation: "Foo"}), ""},
		"another fieldsType":       {managed(meta.ManagedFieldsEntry{Operation: "Apply", FieldsType: "V2"}), ""},
		"a long manager":           {managed(meta.ManagedFieldsEntry{Operation: "Apply", Manager: strings.Repeat("m", 129), APIVersion: "coordination.k8s.io/v1", FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:x":{}}}}`)}}), "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes"},
		"a long subresource":       {managed(meta.ManagedFieldsEntry{Operation: "Apply", Subresource: strings.Repeat("s", 257), APIVersion: "coordination.k8s.io/v1", FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:x":{}}}}`)}}), "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := leasesIn(newStore(t)).Create(t.Context(), newLease("ns/a", row.change), store.CreateOptions{})
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, store.ErrInvalid)
			for want := range strings.SplitSeq(row.want, "|") {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestProblemsOfMetadataAreInOrder(t *testing.T) {
	l := newLease("Ns/A", label("-", "-"), finalizers("-"), owners(meta.OwnerReference{}), func(l *lease.Lease) {
		l.Generation, l.Annotations = -1, map[string]string{"-": ""}
	})
	_, err := leasesIn(newStore(t)).Create(t.Context(), l, store.CreateOptions{})
	var fields []string
	for _, cause := range statusOf(t, err).Details.Causes {
		fields = append(fields, cause.Field)
	}
	assert.Equal(t, []string{
		"metadata.name", "metadata.namespace", "metadata.generation", "metadata.labels", "metadata.labels", "metadata.annotations",
		"metadata.ownerReferences[0].apiVersion", "metadata.ownerReferences[0].kind", "metadata.ownerReferences[0].name",
		"metadata.ownerReferences[0].uid", "metadata.finalizers",
	}, fields)
}

func TestOwnerReferencesThatStandThereTwiceAreDropped(t *testing.T) {
	blocking := owner("u1")
	blocking.BlockOwnerDeletion = new(true)
	controller := owner("u1")
	controller.Controller = new(true)
	refs := []meta.OwnerReference{owner("u1"), owner("u2"), owner("u1"), blocking, controller, owner("u2"), owner("u1")}
	kept := []meta.OwnerReference{owner("u1"), owner("u2"), blocking, controller}
	const text = ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1, u2, u1"

	r := leaseResource(newStore(t))
	var warnings []string
	req := registry.Request{Namespace: "ns", Name: "a", Warn: func(text string) { warnings = append(warnings, text) }}
	it, err := r.Create(t.Context(), newLease("ns/a", owners(refs...)), &req)
	require.NoError(t, err)
	assert.Equal(t, kept, it.Metadata().OwnerReferences, "references that differ in any field stay")
	assert.Equal(t, []string{text}, warnings)

	warnings = nil
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs}})
	require.NoError(t, err)
	it, _, err = r.Update(t.Context(), &req, &registry.Patch{
		Type: registry.MergePatch, Data: data, Scheme: kinds.NewScheme(r.Kind),
	})
	require.NoError(t, err)
	assert.Equal(t, kept, it.Metadata().OwnerReferences)
	assert.Equal(t, "1001", it.ResourceVersion(), "which is no change")
	assert.Equal(t, []string{strings.Replace(text, "entries;", "entries after mutating admission happens;", 1)}, warnings)
	req.Name = "b"
	it, err = r.Create(t.Context(), newLease("ns/b", owners(owner("u"), owner("u"))), &req)
	require.NoError(t, err)
	assert.Len(t, it.Metadata().OwnerReferences, 1)
}
