package managedfields

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/store/meta"
)

// FuzzUpdate makes random writes by several managers; world compares each update with one of trees.
func FuzzUpdate(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { randomWrites(t, seed) })
}

func TestUpdatesOfObjectsAreThoseOfTrees(t *testing.T) {
	for seed := range uint64(400) {
		randomWrites(t, seed)
	}
}

func randomWrites(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := world{t: t, kind: []*FieldManager{leases, candidates, endpointsKind, things}[r.IntN(4)]}
	manager := func() string { return []string{"a", "b", "c"}[r.IntN(3)] }
	doors := []*FieldManager{w.kind}
	if r.IntN(3) == 0 { // the object and its status
		main, status := *w.kind, *w.kind
		main.Reset = []string{"spec", "subsets", "part"}
		status.Subresource, status.Reset = "status", []string{"metadata"}
		doors = []*FieldManager{&main, &main, &status}
	}
	all := w.kind
	for range 12 {
		w.now += r.IntN(2)
		w.kind = doors[r.IntN(len(doors))]
		version := r.IntN(len(w.kind.Versions))
		text := randomText(r, all, version)
		if w.live != nil && r.IntN(6) == 0 {
			_ = w.applyIn(version, manager(), r.IntN(2) == 0, text)
			continue
		}
		o := w.object(version, text)
		if w.live != nil && r.IntN(2) == 0 { // a small change
			o = w.kind.Versions[version].Type.Copy(w.in(version)).(Object)
			if l, ok := o.(*lease); ok {
				l.Spec.HolderIdentity = new(fmt.Sprint(r.IntN(3)))
			}
		}
		m := o.GetObjectMeta()
		switch r.IntN(8) {
		case 0, 1:
			m.ManagedFields = nil
		case 2, 3: // as a client that read the object earlier
			m.ManagedFields = slices.Clone(m.ManagedFields)
			for i := range m.ManagedFields {
				m.ManagedFields[i].Time = new(meta.NewTime(at(r.IntN(4))))
			}
		case 4:
			m.ManagedFields = []meta.ManagedFieldsEntry{{}}
		}
		w.updateTo(version, manager(), o)
	}
}

// randomText returns a random document of a version.
func randomText(r *rand.Rand, kind *FieldManager, version int) string {
	var members []string
	maybe := func(format string, args ...any) {
		if r.IntN(3) == 0 {
			members = append(members, fmt.Sprintf(format, args...))
		}
	}
	object := func() string {
		text := "{" + strings.Join(members, ",") + "}"
		members = nil
		return text
	}
	maybe(`"a":"%d"`, r.IntN(2))
	maybe(`"b\"\u2028":"%d"`, r.IntN(2))
	labels := object()
	maybe(`"labels":%s`, labels)
	maybe(`"annotations":%s`, labels)
	maybe(`"generateName":"g"`)
	maybe(`"finalizers":["x/%d"]`, r.IntN(2))
	maybe(`"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"%d"}]`, r.IntN(2))
	metadata := object()
	switch kind {
	case leases, candidates:
		maybe(`"strategy":"%d"`, r.IntN(2))
		if kind == leases {
			maybe(`"holderIdentity":"%d"`, r.IntN(2))
			maybe(`"leaseTransitions":%d`, r.IntN(2))
			maybe(`"renewTime":"2024-01-01T00:00:0%d.000000Z"`, r.IntN(2))
		} else if maybe(`"leaseName":"%d"`, r.IntN(2)); version == 2 {
			members = nil
			maybe(`"preferredStrategies":["%d"]`, r.IntN(2))
		}
		spec := object()
		return `{"metadata":` + metadata + `,"spec":` + spec + `}`
	case things:
		maybe(`"on":true`)
		maybe(`"part":{}`)
		maybe(`"part":{"a":"%d"}`, r.IntN(2))
		maybe(`"size":%d`, r.IntN(2))
		maybe(`"numbers":[%d]`, r.IntN(2))
		maybe(`"parts":{"p":{"b":%d}}`, r.IntN(2))
	default:
		maybe(`"subsets":[{"addresses":[{"ip":"%d"}]}]`, r.IntN(2))
	}
	rest := object()
	return `{"metadata":` + metadata + strings.Replace(","+rest[1:], ",}", "}", 1)
}
