package openapi

import (
	"cmp"
	"encoding/base64"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// dialect is a version of OpenAPI for one document.
type dialect struct {
	v3       bool
	versions []meta.GroupVersion // of the document
	shared   object              // in version 2: the parameters that operations refer to by name
}

// V2 returns the document of version 2, which describes the whole API.
func (a API) V2() Document {
	d := dialect{shared: object{}}
	for _, gv := range a.GroupVersions {
		d.versions = append(d.versions, gv.GroupVersion)
	}
	paths := object{}
	for _, part := range a.parts() {
		d.addPaths(paths, part.paths)
	}
	definitions := d.referenced(collect(a), paths, d.shared)
	for name, schema := range definitions {
		definitions[name] = schema.(object).v2()
	}
	tree := object{"swagger": "2.0", "info": a.info(), "paths": paths, "definitions": definitions}
	if len(d.shared) > 0 {
		tree["parameters"] = d.shared
	}
	return Document{tree, "v2"}
}

// V3 returns the documents of version 3 by their names. The names are "api/v1" and
// "apis/group/version" for group versions, and "api", "apis", "apis/group" and "version"
// for discovery.
func (a API) V3() map[string]Document {
	definitions := collect(a)
	out := map[string]Document{}
	for name, part := range a.parts() {
		d := dialect{v3: true, versions: part.versions}
		paths := object{}
		d.addPaths(paths, part.paths)
		out[name] = Document{object{
			"openapi": "3.0.0", "info": a.info(), "paths": paths,
			"components": object{"schemas": d.referenced(definitions, paths)},
		}, "v3"}
	}
	return out
}

func (a API) info() object { return object{"title": "Kubernetes", "version": a.Version} }

// addPaths adds the trees of paths by their names.
func (d dialect) addPaths(out object, paths []path) {
	for _, p := range paths {
		item := object{}
		for _, op := range p.operations {
			item[op.method] = d.operation(op)
		}
		d.addParameters(item, p.parameters)
		out[p.name] = item
	}
}

func (d dialect) operation(op operation) object {
	o := object{"operationId": op.id, "description": op.description, "tags": []string{op.tag}}
	if op.name != "" {
		o["x-kubernetes-action"] = op.name
		o[kindsExtension] = op.kind.tree()
	}
	responses := object{}
	for _, code := range op.codes {
		text := map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}[code]
		responses[code] = d.content(object{"description": text}, op.produces, op.answer)
	}
	o["responses"] = responses
	if !d.v3 {
		o["consumes"], o["produces"], o["schemes"] = op.consumes, op.produces, []string{"https"}
		d.addParameters(o, op.parameters)
		return o
	}
	isBody := func(p parameter) bool { return p.in == "body" }
	if i := slices.IndexFunc(op.parameters, isBody); i >= 0 {
		body := d.content(object{}, op.consumes, op.parameters[i].schema)
		if op.parameters[i].required {
			body["required"] = true
		}
		o["requestBody"] = body
	}
	d.addParameters(o, slices.DeleteFunc(slices.Clone(op.parameters), isBody))
	return o
}

// content adds the definition of a body to the tree o, in version 3 for each media type.
func (d dialect) content(o object, types []string, definition string) object {
	if !d.v3 {
		o["schema"] = ref(definition).v2()
		return o
	}
	content := object{}
	for _, t := range types {
		content[t] = object{"schema": ref(definition)}
	}
	o["content"] = content
	return o
}

func (d dialect) addParameters(o object, parameters []parameter) {
	var list []object
	for _, p := range slices.SortedFunc(slices.Values(parameters), func(a, b parameter) int { return cmp.Compare(a.name, b.name) }) {
		list = append(list, d.parameter(p))
	}
	if list != nil {
		o["parameters"] = list
	}
}

// parameter returns the tree of a parameter, or in version 2 a reference to it. It is no
// reference if the parameter is specific to a kind, or if old versions of kubectl look for
// it in the operation (upstream: kube-openapi, builder/parameters.go).
func (d dialect) parameter(p parameter) object {
	o := object{"name": p.name, "in": p.in}
	o.describe(p.description)
	if p.required {
		o["required"] = true
	}
	if d.v3 {
		o["schema"] = object{"type": p.typ, "uniqueItems": true}
		return o
	}
	if p.in == "body" {
		o["schema"] = ref(p.schema).v2()
	} else {
		o["type"], o["uniqueItems"] = p.typ, true
	}
	switch {
	case p.name == "name", p.in == "query" && (p.name == "dryRun" || p.name == "fieldValidation"):
		return o
	case p.in == "body" && !strings.HasPrefix(p.schema, metaPrefix):
		return o
	}
	hash := fnv.New64()
	hash.Write(encode(o))
	name := p.name + "-" + base64.URLEncoding.EncodeToString(hash.Sum(nil)[:6])
	d.shared[name] = o
	return object{"$ref": "#/parameters/" + name}
}

// referenced returns the definitions that parts of a document refer to, directly or
// through other definitions.
func (d dialect) referenced(definitions map[string]object, parts ...object) object {
	out := object{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case object:
			for _, member := range v {
				visit(member)
			}
			ref, _ := v["$ref"].(string)
			name := ref[strings.LastIndexByte(ref, '/')+1:]
			if def := definitions[name]; def != nil && out[name] == nil {
				out[name] = d.withKinds(name, def)
				visit(def)
			}
		case []object:
			for _, item := range v {
				visit(item)
			}
		}
	}
	for _, part := range parts {
		visit(part)
	}
	return out
}

// withKinds returns a definition of a document. WatchEvent and DeleteOptions are kinds in
// every group version.
func (d dialect) withKinds(name string, def object) object {
	kind := strings.TrimPrefix(name, metaPrefix)
	if name != metaPrefix+kind || kind != "WatchEvent" && kind != "DeleteOptions" {
		return def
	}
	versions := append([]meta.GroupVersion{{Version: "v1"}}, d.versions...)
	slices.SortFunc(versions, func(a, b meta.GroupVersion) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
	var kinds []object
	for _, gv := range slices.Compact(versions) {
		kinds = append(kinds, groupVersionKind{gv, kind}.tree())
	}
	def = maps.Clone(def)
	def[kindsExtension] = kinds
	return def
}
