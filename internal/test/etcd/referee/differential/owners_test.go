package differential

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/ownership"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file records the scenarios of internal/managedfields with upstream's field manager, and checks the recorded ones.

var recordFlag = flag.Bool("record", false, "record new scenarios for internal/managedfields")

const recorded = "../../../../managedfields/testdata"

// TestRecordedOwnersAreUpstreams replays the recorded scenarios to upstream's field manager. With -record it first replaces
// them by new ones.
func TestRecordedOwnersAreUpstreams(t *testing.T) {
	for _, m := range newModels(t) {
		t.Run(m.kind.Kind, func(t *testing.T) {
			file := filepath.Join(recorded, m.kind.Kind+".txt")
			if *recordFlag {
				var made []ownership.Scenario
				for seed := range uint64(m.scenarios) {
					g := generator{rand.New(rand.NewPCG(*seedFlag, seed))}
					made = append(made, m.play(t, ownership.Scenario{Kind: m.kind.Kind}, g))
				}
				require.NoError(t, os.WriteFile(file, []byte(ownership.Format(made)), 0o644))
			}
			scenarios, err := ownership.Load(file)
			require.NoError(t, err)
			for _, s := range scenarios {
				require.Equal(t, s, m.play(t, s, generator{}))
			}
		})
	}
}

// model is one kind with upstream's field managers.
type model struct {
	kind      schema.GroupVersionKind // with the stored version
	versions  []string
	status    bool
	managers  map[string]*managedfields.FieldManager // by version and subresource
	convert   runtime.ObjectConvertor
	empty     func(version string) runtime.Object
	hub       string
	document  func(g generator, version string) object
	scenarios int
}

// play does the writes of a scenario. If it has none, play makes them.
func (m *model) play(t *testing.T, s ownership.Scenario, g generator) ownership.Scenario {
	out := ownership.Scenario{Kind: s.Kind}
	synctest.Test(t, func(t *testing.T) {
		p := player{model: m, t: t}
		if len(s.Writes) > 0 {
			for _, w := range s.Writes {
				out.Writes = append(out.Writes, p.write(w))
			}
			return
		}
		second := 0
		for range 4 + g.IntN(8) {
			second += g.IntN(3)
			out.Writes = append(out.Writes, p.write(m.random(g, &p, second)))
		}
	})
	return out
}

// player is one object.
type player struct {
	*model
	t    *testing.T
	live runtime.Object // in the hub version, or nil
}

func (p *player) gv(version string) schema.GroupVersion {
	return schema.GroupVersion{Group: p.kind.Group, Version: version}
}

func (p *player) in(o runtime.Object, version string) runtime.Object {
	out, err := p.convert.ConvertToVersion(o.DeepCopyObject(), p.gv(version))
	require.NoError(p.t, err)
	return out
}

// write does a write as upstream's handlers and strategies do.
func (p *player) write(w ownership.Write) ownership.Write {
	time.Sleep(time.Until(time.Date(2024, 1, 1, 0, 0, w.Second, 0, time.UTC)))
	w.Answer = nil
	live := p.live
	if live == nil {
		live = p.in(p.empty(w.Version), p.hub)
	}
	manager := p.managers[w.Version+"/"+w.Subresource]
	config := &unstructured.Unstructured{}
	require.NoError(p.t, utiljson.Unmarshal([]byte(w.Document), &config.Object)) // whole numbers as int64
	config.SetGroupVersionKind(p.gv(w.Version).WithKind(p.kind.Kind))
	var next runtime.Object
	if w.Verb == ownership.Update {
		text, err := json.Marshal(config.Object)
		require.NoError(p.t, err)
		sent := p.empty(w.Version)
		require.NoError(p.t, json.Unmarshal(text, sent))
		coerce(sent)
		next = manager.UpdateNoErrors(live.DeepCopyObject(), p.in(sent, p.hub), w.Manager)
	} else {
		var err error
		next, err = manager.Apply(live.DeepCopyObject(), config, w.Manager, w.Verb == ownership.Force)
		if err != nil {
			code, message := 500, err.Error()
			if status := apierrors.APIStatus(nil); errors.As(err, &status) {
				code, message = int(status.Status().Code), status.Status().Message
			}
			w.Answer = append(w.Answer, ownership.Error(code, message))
			return w
		}
	}
	next = p.reset(next, w.Subresource)
	doc := p.tree(next)
	metadata := doc["metadata"].(object)
	if w.Verb != ownership.Update {
		for _, name := range []string{"managedFields", "uid"} {
			delete(metadata, name)
		}
		delete(doc, "apiVersion")
		delete(doc, "kind")
		text, err := json.Marshal(doc)
		require.NoError(p.t, err)
		w.Answer = append(w.Answer, "object "+string(text))
	}
	w.Answer = append(w.Answer, owners(next)...)
	p.live = next
	return w
}

// owners returns the lines of an answer for the managedFields of an object.
func owners(o runtime.Object) []string {
	var entries []meta.ManagedFieldsEntry
	for _, e := range metadataOf(o).GetManagedFields() {
		entry := meta.ManagedFieldsEntry{Manager: e.Manager, Operation: meta.ManagedFieldsOperationType(e.Operation),
			APIVersion: e.APIVersion, FieldsType: e.FieldsType, Subresource: e.Subresource}
		if e.Time != nil {
			entry.Time = new(meta.NewTime(e.Time.Time))
		}
		if e.FieldsV1 != nil {
			entry.FieldsV1 = &meta.FieldsV1{Raw: e.FieldsV1.GetRawBytes()}
		}
		entries = append(entries, entry)
	}
	return ownership.Owners(entries)
}

// tree returns an object as JSON in the stored version.
func (p *player) tree(o runtime.Object) object {
	text, err := json.Marshal(p.in(o, p.versions[0]))
	require.NoError(p.t, err)
	var doc object
	require.NoError(p.t, json.Unmarshal(text, &doc))
	return doc
}

// reset does what a strategy does: the status is only written through its subresource, and nothing else is.
func (p *player) reset(next runtime.Object, subresource string) runtime.Object {
	metadataOf(next).SetUID("u")
	coerce(next)
	if !p.status {
		return next
	}
	live := p.live
	if live == nil {
		live = p.in(p.empty(p.versions[0]), p.hub)
	}
	if subresource != "" {
		only := live.DeepCopyObject()
		metadataOf(only).SetManagedFields(metadataOf(next).GetManagedFields())
		metadataOf(only).SetUID("u")
		copyStatus(only, next)
		return only
	}
	copyStatus(next, live)
	return next
}

func metadataOf(o runtime.Object) metav1.Object {
	return o.(metav1.Object)
}

// coerce gives the metadata of an unstructured object the form of the Go type, as upstream's decoder of custom resources does.
func coerce(o runtime.Object) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	text, err := json.Marshal(u.Object["metadata"])
	utilruntime.Must(err)
	var typed metav1.ObjectMeta
	utilruntime.Must(json.Unmarshal(text, &typed))
	u.Object["metadata"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	utilruntime.Must(err)
}

func copyStatus(to, from runtime.Object) {
	switch to := to.(type) {
	case *gadget:
		to.Status = from.(*gadget).Status
	case *unstructured.Unstructured:
		setMember(to, "status", from.(*unstructured.Unstructured).Object)
	}
}

// gadget is version v1 of the kind Gadget, and gadget2 version v2.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ownership.GadgetSpec[ownership.Point] `json:"spec"`
	Status            ownership.GadgetStatus                `json:"status,omitempty"`
}

type gadget2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ownership.GadgetSpec2[ownership.Point] `json:"spec"`
	Status            ownership.GadgetStatus                 `json:"status,omitempty"`
}

func (o *gadget) DeepCopyObject() runtime.Object {
	return &gadget{TypeMeta: o.TypeMeta, ObjectMeta: *o.ObjectMeta.DeepCopy(), Spec: copied(o.Spec), Status: copied(o.Status)}
}

func (o *gadget2) DeepCopyObject() runtime.Object {
	return &gadget2{TypeMeta: o.TypeMeta, ObjectMeta: *o.ObjectMeta.DeepCopy(), Spec: copied(o.Spec), Status: copied(o.Status)}
}

func copied[T any](v T) (out T) {
	text, err := json.Marshal(v)
	utilruntime.Must(err)
	utilruntime.Must(json.Unmarshal(text, &out))
	return out
}

// Gadget and Gadget2 are the types for kubecoord.
type Gadget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            ownership.GadgetSpec[ownership.AtomicPoint] `json:"spec" protobuf:"2"`
	Status          ownership.GadgetStatus                      `json:"status,omitempty" protobuf:"3"`
}

type Gadget2 struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            ownership.GadgetSpec2[ownership.AtomicPoint] `json:"spec" protobuf:"2"`
	Status          ownership.GadgetStatus                       `json:"status,omitempty" protobuf:"3"`
}

func newGadgetScheme() *runtime.Scheme {
	s := newScheme()
	for version, o := range map[string]runtime.Object{"v1": &gadget{}, "v2": &gadget2{}, runtime.APIVersionInternal: &gadget{}} {
		s.AddKnownTypeWithName(schema.GroupVersionKind{Group: widgetGroup, Version: version, Kind: "Gadget"}, o)
	}
	utilruntime.Must(s.AddConversionFunc((*gadget)(nil), (*gadget2)(nil), func(a, b any, _ conversion.Scope) error {
		in, out := a.(*gadget), b.(*gadget2)
		out.ObjectMeta, out.Spec, out.Status = in.ObjectMeta, in.Spec.To2(), in.Status
		return nil
	}))
	utilruntime.Must(s.AddConversionFunc((*gadget2)(nil), (*gadget)(nil), func(a, b any, _ conversion.Scope) error {
		in, out := a.(*gadget2), b.(*gadget)
		out.ObjectMeta, out.Spec, out.Status = in.ObjectMeta, in.Spec.To1(), in.Status
		return nil
	}))
	return s
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

func newModels(t *testing.T) []*model {
	gadgets := newGadgetScheme()
	ofScheme := func(kind schema.GroupVersionKind) func(version string) runtime.Object {
		return func(version string) runtime.Object {
			o, err := gadgets.New(kind.GroupKind().WithVersion(version))
			utilruntime.Must(err)
			return o
		}
	}
	st := store.New(store.Options{})
	defer st.Close()
	gadgetKind := store.MustKind(kind.Descriptor[*Gadget]{
		Resource: kind.Resource{Group: widgetGroup, Kind: "Gadget", Plural: "gadgets", Status: true},
		Native:   &kind.Native[*Gadget]{},
		Versions: []kind.Version[*Gadget]{{Name: "v1"}, {Name: "v2", Form: kind.FormOf(
			func(g *Gadget) *Gadget2 {
				return &Gadget2{ObjectMeta: g.ObjectMeta, Spec: g.Spec.To2(), Status: g.Status}
			},
			func(g *Gadget2) *Gadget {
				return &Gadget{ObjectMeta: g.ObjectMeta, Spec: g.Spec.To1(), Status: g.Status}
			},
		)}},
	})
	blobs := store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: widgetGroup, Kind: "Blob", Status: true},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}, {Name: "v1beta1"}},
	})
	api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{gadgetKind, blobs}})
	defer api.Close()
	converter := converterOf(t, api, "v1", "v2", "v1beta1")

	lease := coordinationv1.SchemeGroupVersion.WithKind("Lease")
	gadget := schema.GroupVersionKind{Group: widgetGroup, Version: "v1", Kind: "Gadget"}
	out := []*model{{
		kind: lease, versions: []string{"v1"}, convert: gadgets, empty: ofScheme(lease), hub: runtime.APIVersionInternal, scenarios: 20,
		document: func(g generator, _ string) object { return object{"spec": g.leaseSpec()} },
	}, {
		kind: gadget, versions: []string{"v1", "v2"}, status: true, convert: gadgets, empty: ofScheme(gadget), hub: runtime.APIVersionInternal, scenarios: 48,
		document: gadgetDocument,
	}, {
		kind: blobKind("v1"), versions: blobVersions, status: true, convert: sameInAllVersions{}, hub: "v1", scenarios: 20,
		empty: func(version string) runtime.Object {
			o, _ := sameInAllVersions{}.New(blobKind(version))
			return o
		},
		document: blobDocument,
	}}
	for _, m := range out {
		m.managers = map[string]*managedfields.FieldManager{}
		types, creater, make := converter, runtime.ObjectCreater(gadgets), managedfields.NewDefaultFieldManager
		switch m.kind.Kind {
		case "Lease":
			types = publishedTypes()
		case "Blob":
			creater, make = sameInAllVersions{}, managedfields.NewDefaultCRDFieldManager
		}
		for _, version := range m.versions {
			for subresource, reset := range m.resets(version) {
				manager, err := make(types, m.convert, noDefaults{}, creater, m.kind.GroupKind().WithVersion(version),
					schema.GroupVersion{Group: m.kind.Group, Version: m.hub}, subresource, fieldpath.NewExcludeFilterSetMap(reset))
				require.NoError(t, err)
				m.managers[version+"/"+subresource] = manager
			}
		}
	}
	return out
}

// resets returns the fields that the writes of each subresource do not change.
func (m *model) resets(version string) map[string]map[fieldpath.APIVersion]*fieldpath.Set {
	if !m.status {
		return map[string]map[fieldpath.APIVersion]*fieldpath.Set{"": nil}
	}
	name := func(version string) fieldpath.APIVersion {
		return fieldpath.APIVersion(schema.GroupVersion{Group: m.kind.Group, Version: version}.String())
	}
	ofStatus := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, v := range m.versions {
		ofStatus[name(v)] = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
	}
	return map[string]map[fieldpath.APIVersion]*fieldpath.Set{
		"":       {name(version): fieldpath.NewSet(fieldpath.MakePathOrDie("status"))},
		"status": ofStatus,
	}
}
