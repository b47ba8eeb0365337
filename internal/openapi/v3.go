package openapi

import (
	"maps"
	"slices"
)

// refsV3 stands before the names of definitions in a document of version 3.
const refsV3 = "#/components/schemas/"

// V3 returns the documents of version 3 by their names: "apis/group/version"
// and "api/v1" for the group versions, "api", "apis", "apis/group" and
// "version" for what the server tells of itself.
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
			"components": object{"schemas": d.reachable(definitions, paths)},
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

// content gives several media types the same schema.
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
