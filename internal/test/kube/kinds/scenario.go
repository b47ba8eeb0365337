package kinds

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

// scenario plays all parts.
func (p *play) scenario() {
	p.listBegin()
	p.creates()
	p.reads()
	p.updates()
	p.status()
	p.patches()
	p.applies()
	p.badInput()
	p.leaves()
	p.subresources()
	p.deletes()
	p.watch("watch all", typeJSON)
	p.watch("watch all as protobuf", typeProto)
	p.watch("watch all as tables", typeTable)
	p.deleteCollection()
}

const selector = "labelSelector=kinds%3D" + RunID

func (p *play) listBegin() {
	p.do("list nothing", request{method: http.MethodGet, path: p.collection(), query: selector})
	p.begin = exchange.TextAt(p.Last, "metadata", "resourceVersion")
}

func (p *play) creates() {
	post := func(step string, r request) {
		r.method, r.path = http.MethodPost, p.collection()
		p.do(step, r)
	}
	full, minimal := p.sample.Full, p.sample.Minimal
	post("create, dry run", request{query: "dryRun=All", body: p.named(full, "dry")})
	gated := p.named(full, "dry")
	for _, leaf := range p.sample.Gated {
		put(gated, strings.Split(strings.TrimPrefix(leaf.Path, "/"), "/"), leaf.Value)
	}
	if len(p.sample.Gated) > 0 {
		post("create with gated members", request{query: "dryRun=All", body: gated})
	}
	post("create minimal", request{body: p.named(minimal, "min")})
	post("create full", request{body: p.named(full, "full")})
	post("create full again", request{body: p.named(full, "full")})
	post("create full as protobuf", request{contentType: typeProto, accept: typeProto, body: p.named(full, "proto")})
	if p.resource.Plural != "ipaddresses" {
		generated := p.named(minimal, "gen")
		meta := generated["metadata"].(map[string]any)
		delete(meta, "name")
		meta["generateName"] = "gen-" + RunID + "-"
		post("create with a generated name", request{body: generated})
	}
}

func (p *play) reads() {
	get := func(step, path, query, accept string) {
		p.do(step, request{method: http.MethodGet, path: path, query: query, accept: accept})
	}
	get("get full", p.object("full"), "", "")
	get("get full as protobuf", p.object("full"), "", typeProto)
	get("get full as YAML", p.object("min"), "", typeYAML)
	get("get full as table", p.object("full"), "", typeTable)
	get("get full as metadata", p.object("full"), "", typePartial)
	get("get absent", p.object("absent"), "", "")
	get("list", p.collection(), selector, "")
	get("list as protobuf", p.collection(), selector, typeProto)
	get("list as table", p.collection(), selector, typeTable)
	get("list as table with objects", p.collection(), selector+"&includeObject=Object&limit=1", typeTable)
	get("list as metadata", p.collection(), selector, typePartials)
	get("list by two labels", p.collection(), selector+"%2Capp%3Da", typePartials)
	get("list by a name", p.collection(), selector+"&fieldSelector=metadata.name%3D"+p.resource.Name("full"), typePartials)
	for _, field := range fieldSelectors() {
		name, _, _ := strings.Cut(field, "=")
		get("list by "+name, p.collection(), selector+"&fieldSelector="+strings.ReplaceAll(field, "=", "%3D"), typePartials)
	}
	get("list by an unknown field", p.collection(), "fieldSelector=spec.unknown%3Da", "")
}

// fieldSelectors are played to each resource: each of them is known to one of them at least.
func fieldSelectors() []string {
	return []string{"spec.nodeName=a", "spec.restartPolicy=Always", "status.phase=Pending", "spec.schedulerName=s", "spec.serviceAccountName=a", "spec.hostNetwork=true", "status.podIP=", "status.nominatedNodeName=",
		"type=example.com/a", "involvedObject.name=a", "involvedObject.kind=Pod", "reason=a", "reportingComponent=", "source=a", "status.successful=0", "spec.unschedulable=true", "status.replicas=0",
		"spec.clusterIP=None", "spec.type=ClusterIP", "name=a", "metadata.namespace=default", "spec.parentRef.name=a", "spec.resourceName=a"}
}

func (p *play) updates() {
	put := func(step, name, query, contentType string, body any) {
		r := request{method: http.MethodPut, path: p.object(name), query: query, contentType: contentType, body: body}
		if contentType == typeProto {
			r.accept = typeProto
		}
		p.do(step, r)
	}
	label := func(tree map[string]any, value string) map[string]any {
		meta := tree["metadata"].(map[string]any)
		labels, _ := meta["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
			meta["labels"] = labels
		}
		labels["update"] = value
		return tree
	}
	stale := p.current("full")
	put("update nothing", "full", "", "", stale)
	put("update a label", "full", "", "", label(p.current("full"), "a"))
	put("update from an old version", "full", "", "", label(stale, "b"))
	put("update minimal as protobuf", "min", "", typeProto, label(p.current("min"), "a"))
	put("update full as protobuf", "full", "dryRun=All", typeProto, p.current("full"))
	put("update without a version", "min", "", "", label(p.named(p.sample.Minimal, "min"), "b"))
	put("update to the full object", "min", "dryRun=All", "", p.named(p.sample.Full, "min"))
	put("update what is absent", "absent", "", "", p.named(p.sample.Minimal, "absent"))
	put("update under another name", "full", "", "", p.named(p.sample.Minimal, "min"))
}

func (p *play) status() {
	status := p.current("full")
	if p.sample.Status != nil {
		status["status"] = p.sample.Status
	}
	path := p.object("full")
	p.do("update with a status", request{method: http.MethodPut, path: path, query: "dryRun=All", body: status})
	p.do("get status", request{method: http.MethodGet, path: path + "/status"})
	if meta, ok := status["metadata"].(map[string]any); ok {
		meta["annotations"] = map[string]any{"example.com/note": "b"}
	}
	p.do("update status", request{method: http.MethodPut, path: path + "/status", body: status})
	for _, key := range sortedKeys(p.sample.Status) {
		member := map[string]any{"status": map[string]any{key: p.sample.Status[key]}}
		p.do("patch status "+key, request{method: http.MethodPatch, path: path + "/status", contentType: typeMerge, accept: typeJSON, body: member})
	}
	p.do("apply status", request{method: http.MethodPatch, path: p.object("min") + "/status", query: "fieldManager=s&force=true", contentType: typeApply, body: map[string]any{
		"apiVersion": p.resource.APIVersion(), "kind": p.resource.Kind, "metadata": map[string]any{"name": p.resource.Name("min")}, "status": p.sample.Status}})
	p.do("strategic patch of status", request{method: http.MethodPatch, path: path + "/status", contentType: typeStrategic, body: map[string]any{"status": p.sample.Status}})
	p.do("get after status", request{method: http.MethodGet, path: path})
	p.do("get after status as table", request{method: http.MethodGet, path: path, accept: typeTable})
}

func (p *play) patches() {
	patch := func(step, name, contentType string, body any) {
		p.do(step, request{method: http.MethodPatch, path: p.object(name), contentType: contentType, body: body})
	}
	patch("JSON patch", "full", typeJSONPatch, []any{map[string]any{"op": "add", "path": "/metadata/labels/patch", "value": "json"}})
	patch("JSON patch whose test fails", "full", typeJSONPatch, []any{map[string]any{"op": "test", "path": "/metadata/labels/patch", "value": "x"}})
	patch("merge patch", "full", typeMerge, map[string]any{"metadata": map[string]any{"labels": map[string]any{"patch": "merge"}, "annotations": map[string]any{"example.com/note": nil}}})
	patch("merge patch of nothing", "full", typeMerge, map[string]any{"metadata": map[string]any{"labels": map[string]any{"patch": "merge"}}})
	patch("strategic patch", "full", typeStrategic, map[string]any{"metadata": map[string]any{"labels": map[string]any{"patch": "strategic"}}})
	same := p.named(p.sample.Full, "full")
	patch("strategic patch with itself", "full", typeStrategic, same)
	p.do("strategic patch with the last items", request{method: http.MethodPatch, path: p.object("full"), query: "dryRun=All", contentType: typeStrategic, body: lastItems(same)})
	p.do("strategic patch with replaced lists", request{method: http.MethodPatch, path: p.object("full"), query: "dryRun=All", contentType: typeStrategic, body: replacedLists(same)})
	p.do("merge patch with the last items", request{method: http.MethodPatch, path: p.object("full"), query: "dryRun=All", contentType: typeMerge, body: lastItems(same)})
	patch("patch of what is absent", "absent", typeMerge, map[string]any{"metadata": map[string]any{"labels": map[string]any{"patch": "merge"}}})
}

// lastItems returns a copy with the last item of each list only.
func lastItems(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range node {
			out[key] = lastItems(value)
		}
		return out
	case []any:
		if len(node) > 0 {
			return []any{lastItems(node[len(node)-1])}
		}
	}
	return tree
}

// replacedLists returns a copy in which each list of objects replaces the one that is there.
func replacedLists(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range node {
			out[key] = replacedLists(value)
		}
		return out
	case []any:
		out := slices.Clone(node)
		if len(out) > 0 {
			if _, ok := out[0].(map[string]any); ok {
				out = append(out, map[string]any{"$patch": "replace"})
			}
		}
		return out
	}
	return tree
}

func (p *play) applies() {
	apply := func(step, name, query string, body map[string]any) {
		p.do(step, request{method: http.MethodPatch, path: p.object(name), query: query, contentType: typeApply, body: body})
	}
	full := p.named(p.sample.Full, "apply")
	apply("apply creates", "apply", "fieldManager=one", full)
	apply("apply again", "apply", "fieldManager=one", full)
	other := wiretest.CopyTree(full).(map[string]any)
	other["metadata"].(map[string]any)["labels"].(map[string]any)["app"] = "b"
	apply("apply conflicts in metadata", "apply", "fieldManager=two", other)
	apply("apply with force", "apply", "fieldManager=two&force=true", other)
	changes := wiretest.CopyTree(full)
	for _, leaf := range p.sample.Changed {
		put(changes, strings.Split(strings.TrimPrefix(leaf.Path, "/"), "/"), leaf.Value)
	}
	apply("apply conflicts in all that can change", "apply", "fieldManager=three&dryRun=All", changes.(map[string]any))
	apply("apply all that can change with force", "apply", "fieldManager=three&dryRun=All&force=true", changes.(map[string]any))
	apply("apply of the last items", "apply", "fieldManager=one&dryRun=All", lastItems(full).(map[string]any))
	apply("apply of the last items by another", "apply", "fieldManager=four&dryRun=All&force=true", lastItems(full).(map[string]any))
	apply("apply less", "apply", "fieldManager=one&force=true&dryRun=All", p.named(p.sample.Minimal, "apply"))
	apply("apply minimal creates", "applymin", "fieldManager=one", p.named(p.sample.Minimal, "applymin"))
	apply("apply of an unknown field", "apply", "fieldManager=one", with(full, "unknown", "a"))
	p.do("update what was applied", request{method: http.MethodPut, path: p.object("apply"), query: "fieldManager=five", body: other})
	p.do("get what was applied", request{method: http.MethodGet, path: p.object("apply")})
}

// with returns a copy of an object with a member at a path with slashes.
func with(tree map[string]any, path string, value any) map[string]any {
	out := wiretest.CopyTree(tree).(map[string]any)
	put(out, strings.Split(path, "/"), value)
	return out
}

// put puts a value at the parts of a JSON pointer, if there is a place for it.
func put(tree any, path []string, value any) {
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
	switch node := tree.(type) {
	case map[string]any:
		if len(path) == 1 {
			node[key] = value
			return
		}
		put(node[key], path[1:], value)
	case []any:
		var i int
		if _, err := fmt.Sscanf(key, "%d", &i); err != nil || i >= len(node) {
			return
		}
		if len(path) == 1 {
			node[i] = value
			return
		}
		put(node[i], path[1:], value)
	}
}
