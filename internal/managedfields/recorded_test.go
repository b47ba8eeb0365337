package managedfields

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/ownership"
	"github.com/kubecoord/kubecoord/store/meta"
)

// gadget and gadget2 are the two versions of a kind with a status.
type gadget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            ownership.GadgetSpec[ownership.AtomicPoint] `json:"spec"`
	Status          ownership.GadgetStatus                      `json:"status,omitempty"`
}

type gadget2 struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            ownership.GadgetSpec2[ownership.AtomicPoint] `json:"spec"`
	Status          ownership.GadgetStatus                       `json:"status,omitempty"`
}

var gadgets = &FieldManager{
	Name: "Gadget", Convert: convertGadget,
	Versions: []Version{versionOf[gadget]("example.com/v1"), versionOf[gadget2]("example.com/v2")},
}

func convertGadget(o Object, from, to int) (Object, error) {
	switch o := o.(type) {
	case *gadget:
		if to == 1 {
			return &gadget2{ObjectMeta: o.ObjectMeta, Spec: o.Spec.To2(), Status: o.Status}, nil
		}
	case *gadget2:
		if to == 0 {
			return &gadget{ObjectMeta: o.ObjectMeta, Spec: o.Spec.To1(), Status: o.Status}, nil
		}
	}
	return o, nil
}

// TestOwnersAreUpstreams does the writes that were recorded with upstream's field manager. world also compares each
// update with track.
func TestOwnersAreUpstreams(t *testing.T) {
	for _, kind := range []*FieldManager{
		leases,
		gadgets,
		{Name: "Blob", Versions: []Version{versionOf[blob]("example.com/v1"), versionOf[blob]("example.com/v1beta1")}},
	} {
		t.Run(kind.Name, func(t *testing.T) {
			scenarios, err := ownership.Load("testdata/" + kind.Name + ".txt")
			require.NoError(t, err)
			require.NotEmpty(t, scenarios)
			for _, s := range scenarios {
				replay(t, kind, s)
			}
		})
	}
}

// replay does the writes of a scenario.
func replay(t *testing.T, kind *FieldManager, s ownership.Scenario) {
	main, status := *kind, *kind
	if kind != leases {
		main.Reset = []string{"status"}
		status.Subresource, status.Reset = "status", []string{"metadata", "spec"}
	}
	w := world{t: t, kind: kind}
	for i, write := range s.Writes {
		before := w.live
		w.kind, w.now = &main, write.Second
		if write.Subresource != "" {
			w.kind = &status
		}
		group, _, _ := strings.Cut(kind.Versions[0].APIVersion, "/")
		version, err := kind.version(group + "/" + write.Version)
		require.NoError(t, err)
		var answer []string
		if write.Verb == ownership.Update {
			o := w.object(version, write.Document)
			o.GetTypeMeta().APIVersion, o.GetTypeMeta().Kind = kind.Versions[version].APIVersion, kind.Name
			w.updateTo(version, write.Manager, o)
		} else {
			w.now--
			if err := w.applyIn(version, write.Manager, write.Verb == ownership.Force, write.Document); err != nil {
				status := meta.StatusOf(err)
				answer = append(answer, ownership.Error(int(status.Code), status.Message))
			}
		}
		if len(answer) == 0 {
			w.live = asStrategy(w.kind, w.live, before)
			if write.Verb != ownership.Update {
				doc := kind.Versions[0].Type.ToUnstructured(w.live)
				delete(doc, "apiVersion")
				delete(doc, "kind")
				delete(doc["metadata"].(map[string]any), "managedFields")
				delete(doc["metadata"].(map[string]any), "uid")
				answer = append(answer, "object "+string(appendValue(nil, doc)))
			}
			answer = append(answer, ownership.Owners(w.live.GetObjectMeta().ManagedFields)...)
		}
		require.Equal(t, write.Answer, answer, "%s", ownership.Format([]ownership.Scenario{{Kind: s.Kind, Writes: s.Writes[:i+1]}}))
	}
}

// asStrategy returns the object that the server stores: a write changes the status only through its subresource, which
// changes nothing else.
func asStrategy(kind *FieldManager, next, before Object) Object {
	if len(kind.Reset) == 0 {
		return next
	}
	if before == nil {
		before = kind.empty(0)
	}
	if kind.Subresource == "" {
		copyStatus(next, before)
		return next
	}
	only := kind.Versions[0].Type.Copy(before).(Object)
	only.GetObjectMeta().ManagedFields, only.GetObjectMeta().UID = next.GetObjectMeta().ManagedFields, "u"
	copyStatus(only, next)
	return only
}

func copyStatus(to, from Object) {
	switch to := to.(type) {
	case *gadget:
		to.Status = from.(*gadget).Status
	case *blob:
		to.Rest = maps.Clone(to.Rest)
		delete(to.Rest, "status")
		if to.Rest == nil {
			to.Rest = map[string]any{}
		}
		if v, ok := from.(*blob).Rest["status"]; ok {
			to.Rest["status"] = v
		}
	}
}
