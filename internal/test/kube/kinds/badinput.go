package kinds

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

func sortedKeys(tree map[string]any) []string { return slices.Sorted(maps.Keys(tree)) }

// badInput plays creates that are wrong in one point. None is stored.
func (p *play) badInput() {
	post := func(step, query string, body any) {
		p.do(step, request{method: http.MethodPost, path: p.collection(), query: "dryRun=All" + query, body: body})
	}
	bad := p.named(p.sample.Minimal, "bad")
	full := p.named(p.sample.Full, "bad")
	for _, level := range []string{"Strict", "Warn", "Ignore"} {
		post("unknown field, "+level, "&fieldValidation="+level, with(bad, "unknown", "a"))
		for _, key := range sortedKeys(full) {
			if m, ok := full[key].(map[string]any); ok && key != "metadata" && len(m) > 0 {
				post("unknown field in "+key+", "+level, "&fieldValidation="+level, with(full, key+"/unknown", map[string]any{"a": 1}))
			}
		}
	}
	post("duplicate field", "&fieldValidation=Strict", []byte(strings.Replace(exchange.Text(bad), `"kind"`, `"kind":"A","kind"`, 1)))
	post("a name that is bad", "", with(bad, "metadata/name", "Not_A_Name"))
	post("a name that is long", "", with(bad, "metadata/name", strings.Repeat("a", 254)))
	post("no name", "", with(bad, "metadata/name", ""))
	post("another namespace", "", with(bad, "metadata/namespace", "other"))
	post("another kind", "", with(bad, "kind", "Other"))
	post("another version", "", with(bad, "apiVersion", "other/v1"))
	post("a bad label", "", with(bad, "metadata/labels", map[string]any{"a b": "c d"}))
	post("a bad finalizer", "", with(bad, "metadata/finalizers", []any{"a b"}))
	post("no object", "", []byte(`[]`))
	post("no JSON", "", []byte(`{"a"`))
	for _, path := range members("", full, 2) {
		post("wrong type of "+path, "", with(full, path, wrong(value(full, path))))
		post("null "+path, "", with(full, path, nil))
	}
	for _, path := range members("", bad, 9) {
		post("without "+path, "", without(bad, path))
	}
}

// members returns the paths of the members of an object down to a depth, without metadata.
func members(prefix string, tree any, depth int) []string {
	var out []string
	switch node := tree.(type) {
	case map[string]any:
		for _, key := range sortedKeys(node) {
			if prefix == "" && slices.Contains([]string{"metadata", "kind", "apiVersion"}, key) {
				continue
			}
			path := prefix + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			out = append(out, path)
			if depth > 1 {
				out = append(out, members(path+"/", node[key], depth-1)...)
			}
		}
	case []any:
		if len(node) > 0 && depth > 1 {
			out = members(prefix+"0/", node[0], depth-1)
		}
	}
	return out
}

func value(tree any, path string) any {
	for part := range strings.SplitSeq(path, "/") {
		switch node := tree.(type) {
		case map[string]any:
			tree = node[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		case []any:
			tree = node[0]
		}
	}
	return tree
}

// wrong returns a value of another type.
func wrong(v any) any {
	switch v.(type) {
	case string:
		return map[string]any{"a": 1}
	case map[string]any, []any:
		return "a"
	}
	return "a"
}

// without returns a copy of an object without a member.
func without(tree map[string]any, path string) map[string]any {
	out := wiretest.CopyTree(tree).(map[string]any)
	parts := strings.Split(path, "/")
	var above any = out
	if len(parts) > 1 {
		above = value(out, strings.Join(parts[:len(parts)-1], "/"))
	}
	if m, ok := above.(map[string]any); ok {
		delete(m, strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[len(parts)-1]))
	}
	return out
}

// leaves plays a patch for each leaf of the full object. Of pod templates only the templates of kinds of core are walked whole.
func (p *play) leaves() {
	patch := func(step string, leaf Leaf) {
		if strings.Contains(leaf.Path, "/template/spec/") && p.resource.Plural != "replicationcontrollers" {
			return
		}
		p.do(step+" "+leaf.Path, request{method: http.MethodPatch, path: p.object("full"), query: "dryRun=All", contentType: typeJSONPatch, accept: typePartial, body: []any{leaf.Patch()}})
	}
	for _, leaf := range p.sample.Changed {
		patch("change", leaf)
	}
	for _, leaf := range p.sample.Kept {
		patch("bad change", leaf)
	}
}

// subresources plays the subresources that some resources have.
func (p *play) subresources() {
	scale := p.object("min") + "/scale"
	p.do("get scale", request{method: http.MethodGet, path: scale})
	p.do("patch scale", request{method: http.MethodPatch, path: scale, contentType: typeMerge, body: map[string]any{"spec": map[string]any{"replicas": 3}}})
	p.do("get scaled as metadata", request{method: http.MethodGet, path: p.object("min"), accept: typePartial})
	if p.resource.Plural == "pods" {
		p.do("bind", request{method: http.MethodPost, path: p.object("min") + "/binding", body: map[string]any{"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": p.resource.Name("min")}, "target": map[string]any{"kind": "Node", "name": "n"}}})
		p.do("bind again", request{method: http.MethodPost, path: p.object("min") + "/binding", body: map[string]any{"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": p.resource.Name("min")}, "target": map[string]any{"kind": "Node", "name": "n"}}})
		p.do("get bound", request{method: http.MethodGet, path: p.object("min")})
		p.do("evict", request{method: http.MethodPost, path: p.object("applymin") + "/eviction", body: map[string]any{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": p.resource.Name("applymin")}}})
		p.do("get evicted", request{method: http.MethodGet, path: p.object("applymin")})
		p.do("get ephemeral containers", request{method: http.MethodGet, path: p.object("min") + "/ephemeralcontainers", accept: typePartial})
		p.do("add an ephemeral container", request{method: http.MethodPatch, path: p.object("min") + "/ephemeralcontainers", contentType: typeStrategic, body: map[string]any{"spec": map[string]any{"ephemeralContainers": []any{map[string]any{"name": "e", "image": "i"}}}}})
		p.do("resize", request{method: http.MethodPatch, path: p.object("min") + "/resize", contentType: typeStrategic, body: map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "resources": map[string]any{"requests": map[string]any{"cpu": "1"}}}}}}})
	}
}

func (p *play) deletes() {
	del := func(step, name, query string, body any, accept string) {
		p.do(step, request{method: http.MethodDelete, path: p.object(name), query: query, body: body, accept: accept})
	}
	del("delete, dry run", "full", "dryRun=All", nil, "")
	del("delete with another uid", "full", "", map[string]any{"preconditions": map[string]any{"uid": "a"}}, "")
	del("delete", "full", "", nil, "")
	del("delete as protobuf", "proto", "", nil, typeProto)
	del("delete with a policy", "apply", "propagationPolicy=Background", nil, "")
	del("delete what is absent", "absent", "", nil, "")
	p.do("get after delete", request{method: http.MethodGet, path: p.object("full")})
	del("delete again", "full", "", nil, "")
	del("delete with no grace", "full", "gracePeriodSeconds=0", nil, "")
}

func (p *play) deleteCollection() {
	p.do("delete collection", request{method: http.MethodDelete, path: p.collection(), query: selector + "&gracePeriodSeconds=0"})
	p.do("list what is left", request{method: http.MethodGet, path: p.collection(), query: selector})
}
