package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/test/ownership"
)

// random returns a random write. It may repeat the live object with a small change.
func (m *model) random(g generator, p *player, second int) ownership.Write {
	w := ownership.Write{Verb: ownership.Update, Manager: pick(g, "m1", "m2", "m3", "kubectl"), Version: m.versions[0], Second: second}
	if g.percent(5) {
		w.Manager = pick(g, "", "m4", "m5 <x>", `m6"`)
	}
	if g.percent(45) {
		w.Version = pick(g, m.versions...)
	}
	if m.status && p.live != nil && g.percent(20) {
		w.Subresource = "status"
	}
	if g.percent(50) {
		w.Verb = pick(g, ownership.Apply, ownership.Apply, ownership.Force)
	}
	doc := m.document(g, w.Version)
	metadata := g.metadata()
	if g.percent(30) {
		metadata["name"] = "a"
	}
	doc["metadata"] = metadata
	if w.Verb != ownership.Update {
		m.configure(g, doc)
	} else {
		m.replace(g, p, doc, w.Version)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	w.Document = string(text)
	return w
}

// configure makes a document an applied configuration, which is sometimes invalid. The player adds apiVersion and kind.
func (m *model) configure(g generator, doc object) {
	if g.percent(20) {
		delete(doc, "metadata")
		if g.percent(50) {
			clear(doc)
		}
		return
	}
	metadata := doc["metadata"].(object)
	if g.percent(10) {
		metadata["annotations"] = object{lastApplied: "{}"}
	}
	if g.percent(90) {
		return
	}
	switch g.IntN(8) {
	case 6, 7:
		if spec, ok := doc["spec"].(object); ok {
			spec[pick(g, "count", "leaseTransitions")] = int64(1) << 40 // no int32
		}
	case 0:
		metadata["managedFields"] = []any{}
	case 1:
		metadata["labels"] = object{"a": g.IntN(2)}
	case 2:
		metadata["finalizers"] = []any{"f/1", "f/1"}
	case 3:
		metadata["ownerReferences"] = []any{object{"uid": "u1", "zzz": 1}}
	case 4:
		metadata["finalizers"] = pick[any](g, nil, []any{nil}, object{})
	case 5:
		metadata["labels"] = pick[any](g, nil, object{}, object{"a": nil})
	}
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// replace makes a document an object that replaces the live one.
func (m *model) replace(g generator, p *player, doc object, version string) {
	var live object
	if p.live != nil {
		text, err := json.Marshal(p.in(p.live, version))
		if err != nil {
			panic(err)
		}
		if err := json.Unmarshal(text, &live); err != nil {
			panic(err)
		}
	}
	if live != nil && g.percent(40) { // a small change
		m.change(g, live, doc)
	}
	metadata := doc["metadata"].(object)
	delete(metadata, "managedFields")
	if g.percent(10) {
		metadata[pick(g, "uid", "resourceVersion", "selfLink")] = pick(g, "7", "u")
	}
	if g.percent(8) {
		metadata["finalizers"] = []any{"f/1", "f/2", "f/1"}
	}
	if spec, ok := doc["spec"].(object); ok && g.percent(8) {
		for _, name := range []string{"parts", "flags", "tags"} {
			if list, ok := spec[name].([]any); ok && len(list) > 0 {
				spec[name] = append(list, list[0])
			}
		}
	}
	if g.percent(5) {
		metadata["generation"] = 1 + g.IntN(2)
	}
	if g.percent(10) {
		text, _ := json.Marshal(object{"apiVersion": m.kind.GroupKind().WithVersion(version).GroupVersion().String(), "kind": m.kind.Kind,
			"metadata": object{"labels": metadata["labels"]}, "spec": doc["spec"]})
		metadata["annotations"] = object{lastApplied: pick(g, string(text), string(text), "{}", "x", `{"apiVersion":"v1"}`)}
	}
	switch n := g.IntN(100); {
	case n < 30 && live != nil:
		had, _ := live["metadata"].(object)["managedFields"].([]any)
		metadata["managedFields"] = m.edited(g, had)
	case n < 33:
		metadata["managedFields"] = []any{object{}}
		if m.kind.Kind != "Blob" && g.percent(50) { // the decoder of custom resources drops an empty list
			metadata["managedFields"] = []any{}
		}
	case n < 36:
		metadata["managedFields"] = m.crowd(g)
	case n < 45:
		metadata["managedFields"] = m.forged(g)
	}
}

// change replaces a document by the live object with a member of its own.
func (m *model) change(g generator, live, doc object) {
	spec, _ := live["spec"].(object)
	other, _ := doc["spec"].(object)
	if spec != nil {
		for _, name := range slices.Sorted(maps.Keys(other)) {
			if g.percent(30) {
				spec[name] = other[name]
			}
		}
	}
	doc["spec"] = live["spec"]
	if live["spec"] == nil {
		delete(doc, "spec")
	}
	doc["metadata"] = live["metadata"]
}

// edited returns the record of a client that read the object earlier, sometimes changed.
func (m *model) edited(g generator, entries []any) []any {
	for _, e := range entries {
		if e := e.(object); g.percent(20) {
			e["time"] = moment(g.IntN(4))
		} else if g.percent(5) {
			delete(e, "time")
		}
	}
	if len(entries) > 1 && g.percent(20) {
		return entries[1:]
	}
	return entries
}

func moment(second int) string {
	return time.Date(2024, 1, 1, 0, 0, second, 0, time.UTC).Format(time.RFC3339)
}

// forged returns a record that a client made up.
func (m *model) forged(g generator) []any {
	return append([]any{m.entry(g)}, upTo(g, 2, func() any { return m.entry(g) })...)
}

func (m *model) entry(g generator) object {
	e := object{"manager": pick(g, "m1", "m2", "f"), "operation": pick(g, "Apply", "Update"), "fieldsType": "FieldsV1", "fieldsV1": m.fields(g),
		"apiVersion": m.kind.GroupKind().WithVersion(pick(g, m.versions...)).GroupVersion().String()}
	if g.percent(80) {
		e["time"] = moment(g.IntN(4))
	}
	if g.percent(10) {
		e["subresource"] = "status"
	}
	if g.percent(10) {
		e["apiVersion"] = pick(g, "example.com/v0", "a/b/c", "")
	}
	if g.percent(5) {
		e["operation"], e["fieldsType"] = pick(g, "", "Update"), pick(g, "", "FieldsV2")
	}
	if g.percent(3) {
		delete(e, "fieldsV1")
	}
	return e
}

// crowd returns more updaters than an object may have.
func (m *model) crowd(g generator) []any {
	var out []any
	for i := range 9 + g.IntN(6) {
		version := m.versions[0]
		if g.percent(30) {
			version = pick(g, m.versions...)
		}
		e := object{"manager": fmt.Sprint("c", i), "operation": "Update", "fieldsType": "FieldsV1", "time": moment(g.IntN(5)),
			"apiVersion": m.kind.GroupKind().WithVersion(version).GroupVersion().String(), "fieldsV1": m.fields(g)}
		if g.percent(10) {
			e["operation"] = "Apply"
		}
		if g.percent(10) {
			e["manager"] = "ancient-changes"
		}
		if g.percent(5) {
			delete(e, "time")
		}
		out = append(out, e)
	}
	return out
}

// fields returns a random FieldsV1.
func (m *model) fields(g generator) any {
	if g.percent(5) {
		return pick[any](g, object{}, object{"a": object{}}, object{"f:spec": 1}, object{"x:y": 1, "f:kind": object{}}, object{"v:1": object{}})
	}
	// The document has the fields of an object without lists.
	doc := m.document(g, m.versions[0])
	doc["metadata"] = object{"labels": g.words("a", "b"), "annotations": g.words("a", "b"), "name": "n", "ownerReferences": object{"name": 1},
		pick(g, "uid", "managedFields", "generation", "resourceVersion", "creationTimestamp"): object{}}
	if m.kind.Kind == "Blob" {
		// Upstream keeps the record of a custom resource as a tree, so that steps are sorted by their texts.
		doc["spec"], doc["status"], doc["data"] = g.words("a", "b"), object{"a": object{"b": 1}}, 1
	}
	out := fieldsOfTree(g, doc)
	if in, ok := out["f:metadata"].(object); ok && m.kind.Kind == "Blob" {
		// For upstream the metadata of a custom resource is a field that the first write adds. For kubecoord it is always there.
		delete(in, ".")
	}
	return out
}

func fieldsOfTree(g generator, v any) object {
	out := object{}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if g.percent(60) {
				out["f:"+name] = fieldsOfTree(g, v[name])
			}
		}
	case []any:
		for i, in := range v {
			switch in := in.(type) {
			case string:
				out[fmt.Sprintf("v:%q", in)] = object{}
			case int:
				out[fmt.Sprintf("v:%d", in)] = object{}
			case map[string]any:
				key := object{}
				for name, value := range in {
					switch name {
					case "name", "port", "protocol", "on", "level":
						key[name] = value
					}
				}
				text, _ := json.Marshal(key)
				out["k:"+string(text)] = fieldsOfTree(g, in)
			default:
				out[fmt.Sprintf("i:%d", i)] = object{}
			}
		}
	}
	if len(out) > 0 && g.percent(50) {
		out["."] = object{}
	}
	return out
}

func blobDocument(g generator, _ string) object {
	doc := object{}
	for _, name := range []string{"spec", "status", "data"} {
		if g.percent(75) {
			doc[name] = randomTree(g, 3)
		}
	}
	return doc
}

func gadgetDocument(g generator, version string) object {
	doc := object{}
	if g.percent(90) {
		doc["spec"] = g.gadgetSpec(version)
	}
	if g.percent(40) {
		doc["status"] = object{"phase": pick(g, "a", "b")}
		if g.percent(50) {
			doc["status"] = object{"seen": g.IntN(2)}
		}
	}
	return doc
}

// gadgetSpec returns a spec of a version of Gadget.
func (g generator) gadgetSpec(version string) object {
	s := object{}
	names := some(g, "mode", "count", "on", "tags", "numbers", "steps", "parts", "ports", "flags", "options", "groups", "origin", "nested", "free", "rows")
	for _, name := range names[:min(len(names), 6)] {
		switch {
		case version == "v2" && name == "mode":
			s["modes"] = some(g, any("m"), "n")
		case version == "v2" && name == "tags":
			s["tag"] = pick(g, "t1", "t2", "t2,t1")
		default:
			s[name] = g.gadgetField(name)
		}
	}
	return s
}

func (g generator) gadgetField(name string) any {
	switch name {
	case "mode":
		return pick(g, "m", "n")
	case "count":
		return g.IntN(3)
	case "on":
		return g.percent(70)
	case "tags":
		return some(g, any("t1"), "t2", "t3", "t4", "t5")
	case "numbers":
		return some(g, any(1), 2, 10)
	case "steps":
		return upTo(g, 3, func() any { return pick(g, "s1", "s2") })
	case "parts":
		var parts []any
		for _, part := range some(g, "p1", "p2", "p3") {
			parts = append(parts, g.part(part))
		}
		return parts
	case "ports":
		var ports []any
		for _, port := range some(g, object{"port": 1, "protocol": "TCP"}, object{"protocol": "TCP"}, object{"port": 2}) {
			if g.percent(50) {
				port["target"] = pick(g, "x", "y")
			}
			ports = append(ports, port)
		}
		return ports
	case "flags":
		var flags []any
		for _, flag := range some(g, object{"on": true, "level": 1}, object{"on": true}, object{"level": 1}, object{}) {
			if g.percent(50) {
				flag["note"] = pick(g, "x", "y")
			}
			flags = append(flags, flag)
		}
		return flags
	case "rows":
		return object{"r": upTo(g, 3, func() any { return pick(g, "1", "2") })}
	case "options":
		return g.words("a", "b")
	case "groups":
		groups := object{}
		for _, group := range some(g, "g1", "g2") {
			groups[group] = pick(g, object{}, object{"a": "1"}, object{"b": 2}, object{"a": "2", "b": 1}, object{"c": some(g, any("x"), "y")})
		}
		return groups
	case "origin":
		return object{"x": g.IntN(2), "y": g.IntN(2)}
	case "free":
		return object{"c": pick(g, "1", "2", ""), "d": object{"k": pick(g, "1", "2")}}
	}
	return g.nested()
}
