package managedfields

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestCreate(t *testing.T) {
	for name, row := range map[string]struct {
		kind    *FieldManager
		version int
		text    string
		want    string
	}{
		"a lease": {leases, 0, `{"metadata":{"name":"a","labels":{"b":"1","a":"2"},"annotations":{"x/y":""}},"spec":{"renewTime":"2024-01-01T00:00:01.000000Z","holderIdentity":"h"}}`,
			`{"f:metadata":{"f:annotations":{".":{},"f:x/y":{}},"f:labels":{".":{},"f:a":{},"f:b":{}}},"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}`},
		"nothing":              {leases, 0, `{"metadata":{"name":"a"},"spec":{}}`, ``},
		"names with escapes":   {leases, 0, `{"metadata":{"labels":{"\"\\<\n\u0001ä\u2028":"1"}},"spec":{}}`, ""},
		"many labels":          {leases, 0, `{"metadata":{"labels":{"9":"","8":"","7":"","6":"","5":"","4":"","3":"","2":"","1":"","0":""}},"spec":{}}`, ""},
		"a member always sent": {candidates, 0, `{"metadata":{},"spec":{"leaseName":"l"}}`, `{"f:spec":{"f:leaseName":{}}}`},
		"the same, empty":      {candidates, 0, `{"metadata":{},"spec":{"strategy":"s"}}`, `{"f:spec":{"f:strategy":{}}}`},
		"an atomic list":       {candidates, 2, `{"metadata":{},"spec":{"leaseName":"","preferredStrategies":["s"]}}`, `{"f:spec":{"f:preferredStrategies":{}}}`},
		"an empty struct":      {things, 0, `{"metadata":{},"part":{}}`, `{"f:part":{}}`},
		"a struct":             {things, 0, `{"metadata":{"name":"a"},"part":{"a":"1"},"on":false}`, `{"f:on":{},"f:part":{".":{},"f:a":{}}}`},
		"finalizers":           {leases, 0, `{"metadata":{"finalizers":["f"]},"spec":{}}`, `{"f:metadata":{"f:finalizers":{".":{},"v:\"f\"":{}}}}`},
		"a list by keys":       {things, 0, `{"metadata":{},"items":[{"name":"a"}]}`, ""},
		"a map of structs":     {things, 0, `{"metadata":{},"parts":{"a":{}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{t: t, kind: row.kind}
			w.updateIn(row.version, "m", row.text) // compares
			if row.want != "" {
				assert.Equal(t, row.want, string(w.live.GetObjectMeta().ManagedFields[0].FieldsV1.Raw))
			}
		})
	}
}

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
