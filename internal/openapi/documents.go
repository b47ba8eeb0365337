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

// V2 returns the document of version 2, which describes the whole API.
func (a API) V2() Document {
	paths, shared := object{}, object{}
	names := []string{"api", "apis", "version"} // of the documents of version 3
	for _, gv := range a.GroupVersions {
		names = append(names, gv.Name())
		if gv.Group != "" && !slices.Contains(names, "apis/"+gv.Group) {
			names = append(names, "apis/"+gv.Group)
		}
	}
	for _, name := range names {
		maps.Copy(paths, a.paths(name))
	}
	for _, path := range paths {
		path := path.(object)
		path.shareParameters(shared)
		for _, operation := range path {
			if operation, ok := operation.(object); ok {
				operation.shareParameters(shared)
			}
		}
	}
	definitions := referenced(collect(a.GroupVersions, a.GroupVersions), a.GroupVersions, paths, shared)
	for name, schema := range definitions {
		definitions[name] = schema.(object).v2Definition()
	}
	tree := object{"swagger": "2.0", "info": a.info(), "paths": paths, "definitions": definitions}
	if len(shared) > 0 {
		tree["parameters"] = shared
	}
	return Document{tree, "v2"}
}

// V3 returns the document of version 3 of a name: "api/v1" and "apis/group/version" for GroupVersions, and "api", "apis", "apis/group" and
// "version" for discovery, which needs no GroupVersions.
func (a API) V3(name string) Document {
	paths, about := a.paths(name).v3(), a.GroupVersions[:0]
	if i := slices.IndexFunc(a.GroupVersions, func(gv GroupVersion) bool { return gv.Name() == name }); i >= 0 {
		about = a.GroupVersions[i : i+1]
	}
	return Document{object{
		"openapi": "3.0.0", "info": a.info(), "paths": paths,
		"components": object{"schemas": referenced(collect(about, a.GroupVersions), about, paths)},
	}, "v3"}
}

func (a API) info() object { return object{"title": "Kubernetes", "version": a.Version} }

// shareParameters moves parameters of a path or an operation to shared and leaves references. A
// parameter stays if it is specific to a kind, or if old versions of kubectl look for it in the
// operation (upstream: kube-openapi, builder/parameters.go).
func (o object) shareParameters(shared object) {
	parameters, _ := o["parameters"].([]object)
	for i, p := range parameters {
		name, in := p["name"].(string), p["in"]
		body, _ := p["schema"].(object)
		switch {
		case name == "name", in == "query" && (name == "dryRun" || name == "fieldValidation"):
			continue
		case in == "body" && !strings.HasPrefix(body["$ref"].(string), refsV2+metaPrefix):
			continue
		}
		hash := fnv.New64()
		hash.Write(encode(p))
		name += "-" + base64.URLEncoding.EncodeToString(hash.Sum(nil)[:6])
		shared[name] = p
		parameters[i] = object{"$ref": "#/parameters/" + name}
	}
}

// v3 returns paths, a path or an operation for version 3. Media types are in the bodies of the
// request and of the answers, and the type of a parameter is its schema.
func (o object) v3() object {
	out := object{}
	for name, v := range o {
		switch name {
		case "consumes", "produces", "schemes":
		case "parameters":
			var rest []object
			for _, p := range v.([]object) {
				if p["in"] == "body" {
					out["requestBody"] = body(p, "required", o["consumes"])
					continue
				}
				p = maps.Clone(p)
				p["schema"] = object{"type": p["type"], "uniqueItems": p["uniqueItems"]}
				delete(p, "type")
				delete(p, "uniqueItems")
				rest = append(rest, p)
			}
			if rest != nil {
				out[name] = rest
			}
		case "responses":
			responses := object{}
			for code, r := range v.(object) {
				responses[code] = body(r.(object), "description", o["produces"])
			}
			out[name] = responses
		default:
			if inner, ok := v.(object); ok {
				v = inner.v3()
			}
			out[name] = v
		}
	}
	return out
}

// body returns the body of a request or an answer for version 3, with one member of its form o
// in version 2, and the schema for each media type.
func body(o object, member string, types any) object {
	name := strings.TrimPrefix(o["schema"].(object)["$ref"].(string), refsV2)
	content := object{}
	for _, t := range types.([]string) {
		content[t] = object{"schema": ref(name)}
	}
	out := object{"content": content}
	out.set(member, o[member], o[member] != nil)
	return out
}

// referenced returns the definitions that parts of a document about versions refer to, also indirectly.
func referenced(definitions map[string]object, versions []GroupVersion, parts ...object) object {
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
				out[name] = withKinds(name, def, versions)
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

// withKinds names the kinds of a definition: WatchEvent and DeleteOptions are kinds in every group version.
func withKinds(name string, def object, versions []GroupVersion) object {
	kind := strings.TrimPrefix(name, metaPrefix)
	if name != metaPrefix+kind || kind != "WatchEvent" && kind != "DeleteOptions" {
		return def
	}
	all := []meta.GroupVersion{{Version: "v1"}}
	for _, gv := range versions {
		all = append(all, gv.GroupVersion)
	}
	slices.SortFunc(all, func(a, b meta.GroupVersion) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
	var kinds []object
	for _, gv := range slices.Compact(all) {
		kinds = append(kinds, kindIn(gv, kind))
	}
	def = maps.Clone(def)
	def[kindsExtension] = kinds
	return def
}
