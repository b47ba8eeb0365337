package openapi

import (
	"encoding/base64"
	"hash/fnv"
	"slices"
	"strings"
)

// V2 returns the document of version 2, which describes the whole API.
func (a API) V2() Document {
	d := dialect{refs: "#/definitions/", shared: object{}}
	for _, gv := range a.GroupVersions {
		d.versions = append(d.versions, gv.GroupVersion)
	}
	paths := object{}
	for _, doc := range a.documents() {
		d.addPaths(paths, doc.paths)
	}
	tree := object{
		"swagger": "2.0", "info": a.info(), "paths": paths, "definitions": d.referenced(collect(a), paths, d.shared),
	}
	if len(d.shared) > 0 {
		tree["parameters"] = d.shared
	}
	return Document{tree, formV2()}
}

// V3 returns the documents of version 3 by their names. The names are "api/v1" and
// "apis/group/version" for group versions, and "api", "apis", "apis/group" and "version"
// for discovery.
func (a API) V3() map[string]Document {
	definitions := collect(a)
	out := map[string]Document{}
	for name, doc := range a.documents() {
		d := dialect{refs: "#/components/schemas/", v3: true, versions: doc.versions}
		paths := object{}
		d.addPaths(paths, doc.paths)
		out[name] = Document{object{
			"openapi": "3.0.0", "info": a.info(), "paths": paths,
			"components": object{"schemas": d.referenced(definitions, paths)},
		}, formV3()}
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
	if op.action != "" {
		o["x-kubernetes-action"] = op.action
		o["x-kubernetes-group-version-kind"] = op.kind.tree()
	}
	responses := object{}
	for _, code := range op.codes {
		responses[code] = d.content(object{"description": answerText(code)}, op.produces, op.answer)
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

func answerText(code string) string {
	switch code {
	case "201":
		return "Created"
	case "202":
		return "Accepted"
	}
	return "OK"
}

// content adds the definition of a body to the tree o, in version 3 for each media type.
func (d dialect) content(o object, types []string, definition string) object {
	if !d.v3 {
		o["schema"] = d.ref(definition)
		return o
	}
	content := object{}
	for _, t := range types {
		content[t] = object{"schema": d.ref(definition)}
	}
	o["content"] = content
	return o
}

func (d dialect) addParameters(o object, parameters []parameter) {
	var list []object
	for _, p := range parameters {
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
	o := described(object{"name": p.name, "in": p.in}, p.description)
	if p.required {
		o["required"] = true
	}
	if d.v3 {
		o["schema"] = object{"type": p.typ, "uniqueItems": true}
		return o
	}
	if p.in == "body" {
		o["schema"] = d.ref(p.schema)
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
func (d dialect) referenced(definitions map[string]*definition, parts ...object) object {
	out := object{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case object:
			for _, member := range v {
				visit(member)
			}
			ref, _ := v["$ref"].(string)
			if name, ok := strings.CutPrefix(ref, d.refs); ok && out[name] == nil {
				tree := d.definition(definitions[name])
				out[name] = tree
				visit(tree)
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
