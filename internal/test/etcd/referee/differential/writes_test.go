package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file makes the request bodies of writers.

// applied returns a configuration for server-side apply.
func (w *writers) applied() object {
	o := w.whole(true)
	m := o["metadata"].(object)
	if w.percent(30) {
		delete(m, "name")
	}
	if w.percent(5) && w.current != nil {
		m["resourceVersion"] = at(w.current, "metadata", "resourceVersion")
	}
	if w.percent(10) {
		w.spoil(o)
	}
	return o
}

// spoil adds one mistake.
func (w *writers) spoil(o object) {
	m := o["metadata"].(object)
	switch w.IntN(12) {
	case 0:
		o["zzz"] = 1
	case 1:
		m["zzz"] = "x"
	case 2:
		m["managedFields"] = w.managedFields()
	case 3:
		o["kind"] = "Other"
	case 4:
		o["apiVersion"] = "coordination.k8s.io/v7"
	case 5:
		m["labels"] = pick[any](w.generator, nil, object{}, object{"a": nil}, object{"a": 1}, []any{}, "x")
	case 6:
		m["finalizers"] = pick[any](w.generator, nil, []any{}, []any{"f/1", "f/1"}, []any{1}, object{}, []any{nil})
	case 7:
		m["ownerReferences"] = pick[any](w.generator, nil, []any{}, []any{object{"kind": "Pod"}}, []any{w.ownerReference("u1"), w.ownerReference("u1")}, []any{nil}, []any{1})
	case 8:
		o["spec"] = pick[any](w.generator, nil, object{}, []any{}, "x", object{"zzz": 1})
	case 9:
		o["subsets"] = pick[any](w.generator, nil, []any{}, object{}, []any{nil}, []any{object{}})
	case 10:
		m["uid"] = pick(w.generator, "other", "uid-0-")
	case 11:
		if s, ok := o["spec"].(object); ok && len(s) > 0 {
			name := slices.Sorted(maps.Keys(s))[w.IntN(len(s))]
			s[name] = pick[any](w.generator, nil, 1, 1.5, "x", true, []any{}, object{}, []any{"x"}, []any{1, nil}, object{"x": "y"})
		}
	}
}

// replacement returns the body of a create or update: a new object, or the stored one with changes.
func (w *writers) replacement() object {
	if w.current == nil || w.percent(20) {
		o := w.whole(false)
		m := o["metadata"].(object)
		if w.current != nil && w.percent(90) {
			m["resourceVersion"] = at(w.current, "metadata", "resourceVersion")
		}
		w.claim(m)
		return o
	}
	o := clone(w.current)
	o["apiVersion"] = w.apiVersion()
	m := o["metadata"].(object)
	for range w.IntN(3) {
		fresh := w.whole(false)
		for name, v := range w.generator.metadata() {
			if w.percent(60) {
				m[name] = v
			}
		}
		for _, name := range []string{"spec", "subsets"} {
			content, ok := fresh[name].(object)
			if old, isObject := o[name].(object); ok && isObject {
				for member := range content {
					if w.percent(50) {
						old[member] = content[member]
					}
				}
			} else if fresh[name] != nil {
				o[name] = fresh[name]
			}
		}
	}
	if w.percent(10) {
		for _, name := range some(w.generator, "labels", "annotations", "finalizers", "ownerReferences") {
			delete(m, name)
		}
	}
	if w.percent(50) {
		w.claim(m)
	}
	return o
}

// claim may set managedFields in metadata.
func (w *writers) claim(m object) {
	switch n := w.IntN(100); {
	case n < 30:
		delete(m, "managedFields")
	case n < 36:
		m["managedFields"] = []any{}
	case n < 42:
		m["managedFields"] = []any{object{}}
	case n < 55:
		m["managedFields"] = w.managedFields()
	case n < 70:
		if entries, ok := m["managedFields"].([]any); ok && len(entries) > 0 {
			w.forge(entries)
		}
	}
}

// forge changes an entry of managedFields.
func (w *writers) forge(entries []any) {
	e := entries[w.IntN(len(entries))].(object)
	switch w.IntN(7) {
	case 0:
		e["manager"] = w.manager()
	case 1:
		e["operation"] = pick(w.generator, "Apply", "Update", "Update", "Other")
	case 2:
		e["apiVersion"] = w.anyVersion()
	case 3:
		delete(e, "time")
	case 4:
		e["fieldsV1"] = w.fieldsV1()
	case 5:
		e["subresource"] = "status"
	case 6:
		e["time"] = "1999-12-31T23:59:59Z"
	}
}

func (w *writers) anyVersion() string {
	return pick(w.generator, w.apiVersion(), w.apiVersion(), "coordination.k8s.io/v1alpha2", "v1", "coordination.k8s.io/v9", "a/b/c")
}

// managedFields returns random managedFields.
func (w *writers) managedFields() []any {
	return upTo(w.generator, 3, func() any {
		e := object{
			"manager": w.manager(), "operation": pick(w.generator, "Apply", "Update"), "apiVersion": w.anyVersion(),
			"fieldsType": "FieldsV1", "fieldsV1": w.fieldsV1(),
		}
		if w.percent(70) {
			e["time"] = fmt.Sprintf("2000-01-01T00:00:0%dZ", w.IntN(9))
		}
		switch w.IntN(40) {
		case 0:
			delete(e, "fieldsV1")
		case 1:
			e["fieldsType"] = "FieldsV2"
		case 2:
			delete(e, "apiVersion")
		case 3:
			e["fieldsV1"] = nil
		case 4:
			delete(e, "manager")
		case 5:
			e["operation"] = ""
		}
		return e
	})
}

// fieldsV1 returns a set of fields, most of which exist. It never contains f:apiVersion, which would make upstream fail at each
// following apply. Kubecoord ignores it, see internal/managedfields.
func (w *writers) fieldsV1() any {
	set := object{}
	for range w.IntN(5) {
		path := pick(w.generator,
			"f:metadata f:labels f:a", "f:metadata f:labels .", "f:metadata f:labels", "f:metadata f:annotations f:a", `f:metadata f:finalizers v:"f/1"`,
			"f:metadata f:finalizers", "f:metadata f:finalizers .", `f:metadata f:ownerReferences k:{"uid":"u1"}`, `f:metadata f:ownerReferences k:{"uid":"u1"} f:name`,
			"f:metadata f:name", "f:metadata f:managedFields", "f:metadata f:resourceVersion", "f:spec", "f:spec f:holderIdentity", "f:spec f:renewTime", "f:spec .",
			"f:spec f:leaseTransitions", "f:subsets", "f:subsets i:0", "f:subsets i:0 f:addresses", "f:zzz", "f:spec f:zzz f:y", `f:spec f:tags v:"t1"`, "f:spec f:tags",
			`f:spec f:parts k:{"name":"p1"}`, `f:spec f:parts k:{"name":"p1"} .`, `f:spec f:parts k:{"name":"p1"} f:size`, `f:spec f:parts k:{"name":"p1"} f:labels v:"l1"`,
			`f:spec f:ports k:{"port":1,"protocol":"TCP"} f:target`, "f:spec f:origin", "f:spec f:origin f:x", "f:spec f:nested f:b f:c", "f:spec f:options f:a", "f:spec f:mode",
			"f:spec f:steps", "f:spec f:steps i:1", "f:spec f:binaryVersion", "f:spec f:strategy", ".")
		at := set
		for step := range strings.SplitSeq(path, " ") {
			next, ok := at[step].(object)
			if !ok {
				next = object{}
				at[step] = next
			}
			at = next
		}
	}
	switch w.IntN(60) {
	case 0:
		set["x:y"] = object{}
	case 1:
		set["f:a"] = pick[any](w.generator, 1, "x", nil, []any{})
	case 2:
		return pick[any](w.generator, 1, "x", []any{}, true)
	case 3:
		set["k:{"] = object{}
	case 4:
		set["v:"] = object{}
	}
	return set
}

// mergePatch returns a merge patch.
func (w *writers) mergePatch() object {
	o := w.whole(true)
	delete(o, "apiVersion")
	delete(o, "kind")
	m := o["metadata"].(object)
	delete(m, "name")
	for _, v := range []any{m, m["labels"], m["annotations"], o["spec"]} {
		if members, ok := v.(object); ok {
			for _, name := range slices.Sorted(maps.Keys(members)) {
				if w.percent(20) {
					members[name] = nil
				}
			}
		}
	}
	if w.percent(12) {
		w.claim(m)
	}
	if w.percent(5) {
		w.spoil(o)
	}
	if w.percent(40) {
		delete(o, "spec")
	}
	return o
}

// operations returns a JSON patch.
func (w *writers) operations() any {
	fresh := w.whole(true)
	w.claim(fresh["metadata"].(object))
	return upTo(w.generator, 4, func() any {
		path := pick(w.generator, "/metadata/labels", "/metadata/labels/a", "/metadata/annotations", "/metadata/finalizers", "/metadata/finalizers/0", "/metadata/finalizers/-",
			"/metadata/ownerReferences", "/metadata/ownerReferences/0", "/metadata/ownerReferences/0/name", "/metadata/managedFields", "/metadata/managedFields/0", "/metadata/managedFields/0/manager",
			"/spec", "/spec/holderIdentity", "/spec/renewTime", "/spec/leaseTransitions", "/subsets", "/subsets/0", "/subsets/-", "/spec/tags", "/spec/tags/0", "/spec/parts/0", "/spec/mode", "/spec/binaryVersion")
		op := object{"op": pick(w.generator, "add", "add", "add", "replace", "replace", "remove", "test", "copy", "move"), "path": path}
		switch op["op"] {
		case "copy", "move":
			op["from"] = pick(w.generator, "/metadata/labels", "/metadata/annotations", "/spec/holderIdentity", "/metadata/finalizers/0")
		case "remove":
		default:
			op["value"] = w.valueAt(fresh, path)
		}
		return op
	})
}

// valueAt returns the value at a path, or a random one.
func (w *writers) valueAt(o object, path string) any {
	var v any = o
	for name := range strings.SplitSeq(path[1:], "/") {
		members, ok := v.(object)
		if !ok || members[name] == nil {
			return pick[any](w.generator, "f/1", "f/2", "x", nil, 1, object{}, []any{})
		}
		v = members[name]
	}
	return v
}

// at returns the value at a path, nil where there is none.
func at(o object, path ...string) any {
	var v any = o
	for _, name := range path {
		members, _ := v.(object)
		v = members[name]
	}
	return v
}

func clone(o object) object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out object
	_ = json.Unmarshal(text, &out)
	return out
}
