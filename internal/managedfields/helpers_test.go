package managedfields

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// For field management the types below equal the types of the API.

type lease struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            leaseSpec `json:"spec"`
}

type leaseSpec struct {
	HolderIdentity       *string         `json:"holderIdentity,omitempty"`
	LeaseDurationSeconds *int32          `json:"leaseDurationSeconds,omitempty"`
	AcquireTime          *meta.MicroTime `json:"acquireTime,omitempty"`
	RenewTime            *meta.MicroTime `json:"renewTime,omitempty"`
	LeaseTransitions     *int32          `json:"leaseTransitions,omitempty"`
	Strategy             *string         `json:"strategy,omitempty"`
	PreferredHolder      *string         `json:"preferredHolder,omitempty"`
}

type candidate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		LeaseName string `json:"leaseName"`
		Strategy  string `json:"strategy,omitempty"`
	} `json:"spec"`
}

// oldCandidate has a list where later versions have one strategy.
type oldCandidate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		LeaseName           string   `json:"leaseName"`
		PreferredStrategies []string `json:"preferredStrategies,omitempty" listType:"atomic"`
	} `json:"spec"`
}

type endpoints struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Subsets         []struct {
		Addresses []struct {
			IP string `json:"ip"`
		} `json:"addresses,omitempty" listType:"atomic"`
	} `json:"subsets,omitempty" listType:"atomic"`
}

// thing has the features that the kinds of the API lack.
type thing struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Items           []item          `json:"items,omitempty" listType:"map" listMapKey:"name,port"`
	Choices         []choice        `json:"choices,omitempty" listType:"map" listMapKey:"id"`
	Numbers         []int32         `json:"numbers,omitempty" listType:"set"`
	Parts           map[string]part `json:"parts,omitempty"`
	Part            *part           `json:"part,omitempty"`
	On              *bool           `json:"on,omitempty"`
	Size            float64         `json:"size,omitempty"`
}

type item struct {
	Name  string   `json:"name"`
	Port  int32    `json:"port,omitempty"`
	Value *string  `json:"value,omitempty"`
	Tags  []string `json:"tags,omitempty" listType:"set"`
}

type choice struct {
	ID string `json:"id,omitempty"`
}

type part struct {
	A string `json:"a,omitempty"`
	B int32  `json:"b,omitempty"`
}

func versionOf[T any](apiVersion string) Version {
	return Version{
		APIVersion: apiVersion,
		Type:       codec.MustCompile(reflect.TypeFor[T](), apiVersion),
	}
}

var (
	leases = &FieldManager{Name: "Lease", Versions: []Version{versionOf[lease]("coordination.k8s.io/v1")}}

	candidates = &FieldManager{Name: "LeaseCandidate", Versions: []Version{
		versionOf[candidate]("coordination.k8s.io/v1beta1"),
		versionOf[candidate]("coordination.k8s.io/v1alpha2"),
		versionOf[oldCandidate]("coordination.k8s.io/v1alpha1"),
	}, Convert: convertCandidate}

	endpointsKind = &FieldManager{Name: "Endpoints", Versions: []Version{versionOf[endpoints]("v1")}}

	things = &FieldManager{Name: "Thing", Versions: []Version{versionOf[thing]("example.com/v1")}}
)

func convertCandidate(o Object, from, to int) (Object, error) {
	switch {
	case from == 2 && to != 2:
		old := o.(*oldCandidate)
		c := &candidate{ObjectMeta: old.ObjectMeta}
		c.Spec.LeaseName = old.Spec.LeaseName
		if len(old.Spec.PreferredStrategies) > 0 {
			c.Spec.Strategy = old.Spec.PreferredStrategies[0]
		}
		return c, nil
	case from != 2 && to == 2:
		c := o.(*candidate)
		old := &oldCandidate{ObjectMeta: c.ObjectMeta}
		old.Spec.LeaseName = c.Spec.LeaseName
		if c.Spec.Strategy != "" {
			old.Spec.PreferredStrategies = []string{c.Spec.Strategy}
		}
		return old, nil
	}
	return o, nil
}

// at returns a time, in seconds after the start.
func at(second int) time.Time { return time.Date(2024, 1, 1, 0, 0, second, 0, time.UTC) }

// tree decodes a JSON document.
func tree(t testing.TB, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &doc), text)
	return doc
}

// world is one object and a clock that moves by a second before each write.
type world struct {
	t    testing.TB
	kind *FieldManager
	live Object // nil at first
	now  int
}

func (w *world) object(version int, text string) Object {
	w.t.Helper()
	o := w.kind.empty(version)
	_, err := w.kind.Versions[version].Type.FromUnstructured(tree(w.t, text), o, false)
	require.NoError(w.t, err)
	return o
}

// in returns the live object in a version.
func (w *world) in(version int) Object {
	if w.live == nil || w.kind.Convert == nil {
		return w.live
	}
	o, err := w.kind.Convert(w.live, 0, version)
	require.NoError(w.t, err)
	return o
}

// keep stores o, an object in a version, as the live object.
func (w *world) keep(version int, o Object) {
	if w.kind.Convert != nil {
		var err error
		o, err = w.kind.Convert(o, version, 0)
		require.NoError(w.t, err)
	}
	o.GetObjectMeta().UID = "u"
	w.live = o
}

// update replaces the object.
func (w *world) update(manager, text string) { w.updateIn(0, manager, text) }

func (w *world) updateIn(version int, manager, text string) {
	w.t.Helper()
	w.now++
	o := w.object(version, text)
	w.updateTo(version, manager, o)
}

// updateTo replaces the object by o. It checks that the comparison of the objects finds what that
// of their trees finds.
func (w *world) updateTo(version int, manager string, o Object) {
	w.t.Helper()
	live := w.in(version)
	want := w.updateTrees(version, manager, o)
	w.kind.Update(version, live, o, manager, at(w.now))
	require.Equal(w.t, want, o.GetObjectMeta().ManagedFields)
	w.keep(version, o)
}

func (w *world) updateTrees(version int, manager string, o Object) []meta.ManagedFieldsEntry {
	k, live := w.kind, w.in(version)
	var had []meta.ManagedFieldsEntry
	before := opened(k, version, k.empty(version))
	if live != nil {
		had, before = live.GetObjectMeta().ManagedFields, opened(k, version, live)
	}
	sent := o.GetObjectMeta().ManagedFields
	if k.Subresource != "" {
		sent = nil
	}
	os := k.ownersBefore(sent, had)
	if len(os) == 0 && live != nil && live.GetObjectMeta().UID != "" {
		return nil
	}
	id := updater(manager, k.Versions[version].APIVersion, k.Subresource)
	os, err := k.recordUpdate(before, opened(k, version, o), os, id, len(had) > 0, at(w.now))
	if err != nil {
		return had
	}
	return os.encode()
}

// apply applies a document. It may leave out apiVersion and kind.
func (w *world) apply(manager, text string) error { return w.applyIn(0, manager, false, text) }

func (w *world) force(manager, text string) error { return w.applyIn(0, manager, true, text) }

func (w *world) applyIn(version int, manager string, force bool, text string) error {
	w.t.Helper()
	w.now++
	config := tree(w.t, text)
	if _, ok := config["apiVersion"]; !ok {
		config["apiVersion"] = w.kind.Versions[version].APIVersion
	}
	if _, ok := config["kind"]; !ok {
		config["kind"] = w.kind.Name
	}
	live, sent, typ := w.in(version), string(appendValue(nil, config)), w.kind.Versions[version].Type
	var before any
	if live != nil {
		before = typ.Copy(live)
	}
	o, _, err := w.kind.Apply(version, live, config, ApplyOptions{Manager: manager, Force: force, Now: at(w.now)})
	require.Equal(w.t, sent, string(appendValue(nil, config)), "the configuration does not change")
	if live != nil {
		require.True(w.t, typ.Equal(before, typ.Copy(live)), "the live object does not change")
	}
	if err == nil {
		w.keep(version, o)
	}
	return err
}

// record returns the managedFields in a short form, with "A" for Apply and "U" for Update.
func (w *world) record() []string { return short(w.live.GetObjectMeta().ManagedFields) }

func short(entries []meta.ManagedFieldsEntry) []string {
	var out []string
	for _, e := range entries {
		when := "-"
		if e.Time != nil {
			when = fmt.Sprint(e.Time.Second())
		}
		out = append(out, fmt.Sprintf("%s %s %s %s", e.Manager, e.Operation[:1], when, e.FieldsV1.Raw))
	}
	return out
}

// doc returns the object without apiVersion, kind and server metadata.
func (w *world) doc() string {
	doc := w.kind.Versions[0].Type.ToUnstructured(w.live)
	delete(doc, "apiVersion")
	delete(doc, "kind")
	m := doc["metadata"].(map[string]any)
	for _, name := range []string{"name", "uid", "managedFields"} {
		delete(m, name)
	}
	if len(m) == 0 {
		delete(doc, "metadata")
	}
	return string(appendValue(nil, doc))
}

// opened returns an object as the document that is its tree.
func opened(k *FieldManager, version int, o Object) document {
	tree := k.Versions[version].Type.ToUnstructured(o)
	delete(tree, "apiVersion")
	delete(tree, "kind")
	delete(members(tree["metadata"]), "managedFields")
	return k.of(version, o).with(codec.TreeValue(tree))
}
