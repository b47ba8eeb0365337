package openapi

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// refsV2 is the prefix of references to definitions in version 2.
const refsV2 = "#/definitions/"

// sharedParameters are the parameters of a document of version 2 that operations refer
// to by name.
type sharedParameters object

// V2 returns the document of version 2, which describes the whole API.
func (a API) V2() Document {
	d := dialect{refs: refsV2}
	for _, gv := range a.GroupVersions {
		d.versions = append(d.versions, gv.GroupVersion)
	}
	docs := a.documents()
	shared, paths := sharedParameters{}, object{}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		for _, p := range docs[name].paths {
			item := object{}
			for _, op := range p.operations {
				item[op.method] = shared.operation(d, op)
			}
			if len(p.parameters) > 0 {
				item["parameters"] = shared.list(d, p.parameters)
			}
			paths[p.name] = item
		}
	}
	tree := object{
		"swagger": "2.0", "info": a.info(), "paths": paths,
		"definitions": d.referenced(collect(a), paths, object(shared)),
	}
	if len(shared) > 0 {
		tree["parameters"] = object(shared)
	}
	return Document{tree, formV2()}
}

func (a API) info() object { return object{"title": "Kubernetes", "version": a.Version} }

func (s sharedParameters) operation(d dialect, op operation) object {
	responses := object{}
	for _, code := range op.codes {
		responses[code] = object{"description": answerText(code), "schema": d.ref(op.answer)}
	}
	o := op.tree()
	o["consumes"], o["produces"], o["schemes"] = op.consumes, op.produces, []string{"https"}
	o["responses"] = responses
	if len(op.parameters) > 0 {
		o["parameters"] = s.list(d, op.parameters)
	}
	return o
}

// tree returns the members of an operation that are the same in both versions.
func (op operation) tree() object {
	o := object{"operationId": op.id, "description": op.description, "tags": []string{op.tag}}
	if op.action != "" {
		o["x-kubernetes-action"] = op.action
		o["x-kubernetes-group-version-kind"] = op.kind.tree()
	}
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

func (s sharedParameters) list(d dialect, parameters []parameter) []object {
	out := make([]object, len(parameters))
	for i, p := range parameters {
		out[i] = s.share(p, p.treeV2(d))
	}
	return out
}

// share adds a parameter to the shared parameters and returns a reference to it. It
// returns the parameter itself if it is specific to a kind, or if old versions of kubectl
// look for it in the operation (upstream: kube-openapi, builder/parameters.go).
func (s sharedParameters) share(p parameter, tree object) object {
	switch {
	case p.name == "name", p.in == "query" && (p.name == "dryRun" || p.name == "fieldValidation"):
		return tree
	case p.in == "body" && !strings.HasPrefix(p.schema, metaPrefix):
		return tree
	}
	data, err := json.Marshal(tree)
	if err != nil {
		panic(err) // encoding a tree cannot fail
	}
	hash := fnv.New64()
	hash.Write(data)
	name := p.name + "-" + base64.URLEncoding.EncodeToString(hash.Sum(nil)[:6])
	s[name] = tree
	return object{"$ref": "#/parameters/" + name}
}

func (p parameter) treeV2(d dialect) object {
	o := described(object{"name": p.name, "in": p.in}, p.description)
	if p.in == "body" {
		o["schema"] = d.ref(p.schema)
	} else {
		o["type"], o["uniqueItems"] = p.typ, true
	}
	if p.required {
		o["required"] = true
	}
	return o
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

// refsV3 is the prefix of references to definitions in version 3.
const refsV3 = "#/components/schemas/"

// V3 returns the documents of version 3 by their names. The names are "api/v1" and
// "apis/group/version" for group versions, and "api", "apis", "apis/group" and "version"
// for discovery.
func (a API) V3() map[string]Document {
	definitions := collect(a)
	docs := a.documents()
	out := make(map[string]Document, len(docs))
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		d := dialect{refs: refsV3, v3: true, versions: docs[name].versions}
		paths := object{}
		for _, p := range docs[name].paths {
			paths[p.name] = p.treeV3(d)
		}
		out[name] = Document{object{
			"openapi": "3.0.0", "info": a.info(), "paths": paths,
			"components": object{"schemas": d.referenced(definitions, paths)},
		}, formV3()}
	}
	return out
}

func (p path) treeV3(d dialect) object {
	item := object{}
	for _, op := range p.operations {
		item[op.method] = op.treeV3(d)
	}
	if len(p.parameters) > 0 {
		item["parameters"] = parametersV3(p.parameters)
	}
	return item
}

func (op operation) treeV3(d dialect) object {
	responses := object{}
	for _, code := range op.codes {
		responses[code] = object{"description": answerText(code), "content": content(op.produces, d.ref(op.answer))}
	}
	o := op.tree()
	o["responses"] = responses
	var parameters []parameter
	for _, p := range op.parameters {
		if p.in != "body" {
			parameters = append(parameters, p)
			continue
		}
		body := object{"content": content(op.consumes, d.ref(p.schema))}
		if p.required {
			body["required"] = true
		}
		o["requestBody"] = body
	}
	if parameters != nil {
		o["parameters"] = parametersV3(parameters)
	}
	return o
}

// content returns an object with the same schema for each media type.
func content(types []string, schema object) object {
	o := object{}
	for _, t := range types {
		o[t] = object{"schema": schema}
	}
	return o
}

func parametersV3(parameters []parameter) []object {
	out := make([]object, len(parameters))
	for i, p := range parameters {
		o := described(object{"name": p.name, "in": p.in}, p.description)
		o["schema"] = object{"type": p.typ, "uniqueItems": true}
		if p.required {
			o["required"] = true
		}
		out[i] = o
	}
	return out
}
