package openapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The media types of requests and answers, in the order of documents of version 2.
var (
	documentTypes = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	streamTypes   = slices.Concat(documentTypes, []string{"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"})
	patchTypes    = []string{
		"application/json-patch+json", "application/merge-patch+json",
		"application/strategic-merge-patch+json", "application/apply-patch+yaml",
	}
)

// action is how a resource is read or written.
type action struct {
	name         string // the value of x-kubernetes-action
	method, verb string // the verb begins the operation id
	query        string // sets of query parameters in wordsText
	body, answer string // the definitions of request and answer
	codes        []string
}

// paths returns the paths of the document of version 3 of a name, in the form of version 2.
func (a API) paths(name string) object {
	switch name {
	case "api":
		return discovery("/api/", "getCoreAPIVersions", "core", "List the versions of the core group.", "APIVersions")
	case "apis":
		return discovery("/apis/", "getAPIVersions", "apis", "List the groups.", "APIGroupList")
	case "version":
		return discovery("/version/", "getCodeVersion", "version", "Tell the version of the server.", "")
	}
	for _, gv := range a.GroupVersions {
		if gv.Name() != name {
			continue
		}
		group, tag := gv.operationGroup()
		paths, words := discovery(gv.root()+"/", "get"+group+"APIResources", tag, "List the resources of the group version.", "APIResourceList"), words()
		for _, r := range gv.Resources {
			addPaths(paths, gv, r, words)
		}
		return paths
	}
	group, tag := operationWord(strings.TrimPrefix(name, "apis/"))
	return discovery("/"+name+"/", "get"+group+"APIGroup", tag, "Describe the group.", "APIGroup")
}

// discovery returns the one path of a document of discovery. answer is the name of a
// definition of package meta, or "" for the version of the server.
func discovery(name, id, tag, description, answer string) object {
	types := documentTypes
	if answer == "" {
		types, answer = documentTypes[:1], versionInfo
	} else {
		answer = metaPrefix + answer
	}
	return object{name: object{"get": operation(id, description, tag, types, types, answer, []string{"200"})}}
}

// operation returns an operation in the form of version 2.
func operation(id, description, tag string, consumes, produces []string, answer string, codes []string) object {
	responses := object{}
	for _, code := range codes {
		text := map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}[code]
		responses[code] = object{"description": text, "schema": ref(answer).v2()}
	}
	return object{
		"operationId": id, "description": description, "tags": []string{tag}, "schemes": []string{"https"},
		"consumes": consumes, "produces": produces, "responses": responses,
	}
}

func (gv GroupVersion) actions(r Resource) []action {
	item, status, event := r.definition(gv), metaPrefix+"Status", metaPrefix+"WatchEvent"
	patch, options := metaPrefix+"Patch", metaPrefix+"DeleteOptions"
	ok, created, accepted := []string{"200"}, []string{"200", "201"}, []string{"200", "202"}
	return []action{
		{"get", "get", "read", "", "", item, ok},
		{"list", "get", "list", "list watch", "", r.listDefinition(gv), ok},
		{"watch", "get", "watch", "list watch", "", event, ok},
		{"watchlist", "get", "watch", "list watch", "", event, ok},
		{"post", "post", "create", "change write", item, item, []string{"200", "201", "202"}},
		{"put", "put", "replace", "change write", item, item, created},
		{"patch", "patch", "patch", "change patch", patch, item, created},
		{"delete", "delete", "delete", "delete", options, status, accepted},
		{"deletecollection", "delete", "delete", "list delete", options, status, ok},
	}
}

// operation returns the method and the operation of an action. The operation's id ends with subject.
func (r Resource) operation(gv GroupVersion, name, subject, description string, words map[string]object) (method string, op object) {
	actions, kind := gv.actions(r), kindIn(gv.GroupVersion, r.Kind)
	if s := r.body; s != nil {
		actions, kind = GroupVersion{GroupVersion: s.GroupVersion}.actions(*s.Body), kindIn(s.GroupVersion, s.Body.Kind)
	}
	a := actions[slices.IndexFunc(actions, func(a action) bool { return a.name == name })]
	consumes, produces := []string{"*/*"}, documentTypes
	switch name {
	case "list", "watch", "watchlist":
		produces = streamTypes
	case "deletecollection":
		subject = "Collection" + subject
	}
	if r.JSONOnly {
		consumes, produces = documentTypes[:2], documentTypes[:2]
	}
	if name == "patch" {
		consumes = patchTypes
		if r.NotStrategic {
			consumes = []string{patchTypes[0], patchTypes[1], patchTypes[3]}
		}
	}
	group, tag := gv.operationGroup()
	op = operation(a.verb+group+subject, description, tag, consumes, produces, a.answer, a.codes)
	op["x-kubernetes-action"], op[kindsExtension] = name, kind
	parameters := queryParameters(words, a.query)
	if a.body != "" {
		body := object{"name": "body", "in": "body", "schema": ref(a.body).v2()}
		body.set("required", true, a.method != "delete")
		parameters = append(parameters, body)
	}
	op.addParameters(parameters)
	return a.method, op
}

// served returns the pairs of an action and its description whose verb the resource has.
func (r Resource) served(described []string) (out []string) {
	verbs := map[string]string{"post": "create", "put": "update", "watchlist": "watch"} // of actions with another name
	for pair := range slices.Chunk(described, 2) {
		if r.Verbs == nil || slices.Contains(r.Verbs, cmp.Or(verbs[pair[0]], pair[0])) {
			out = append(out, pair...)
		}
	}
	return out
}

func addPaths(paths object, gv GroupVersion, r Resource, words map[string]object) {
	pretty := queryParameters(words, "pretty")
	named, within, where := r.Kind, "", "" // for operation ids, paths and descriptions
	collection := pretty
	if !r.ClusterScoped {
		named, within, where = "Namespaced"+r.Kind, "/namespaces/{namespace}", " in a namespace"
		collection = append(slices.Clone(pretty), pathParameter("namespace", "The namespace of the objects."))
	}
	item := append(slices.Clone(collection), pathParameter("name", "The name of the "+r.Kind+"."))
	// add adds a path whose operations share parameters. described has the action and the
	// description of each operation.
	add := func(name, subject string, shared []object, described ...string) {
		path := object{}
		described = r.served(described)
		isOnly := len(described) == 2
		for ; len(described) > 0; described = described[2:] {
			method, op := r.operation(gv, described[0], subject, described[1], words)
			path[method] = op
			if parameters, _ := op["parameters"].([]object); isOnly {
				delete(op, "parameters")
				at := slices.IndexFunc(parameters, func(p object) bool { return p["in"] == "body" })
				if at >= 0 {
					op["parameters"] = []object{parameters[at]}
					parameters = slices.Delete(slices.Clone(parameters), at, at+1)
				}
				path.addParameters(parameters)
			}
		}
		if len(path) > 0 {
			path.addParameters(shared)
			paths[gv.root()+name] = path
		}
	}
	kind, objects, deprecated := r.Kind, "the objects of kind "+r.Kind, ". Deprecated: list with the parameter watch"
	if !r.ClusterScoped {
		add("/"+r.Plural, kind+"ForAllNamespaces", pretty, "list", "List or watch "+objects+" in all namespaces.")
		add("/watch/"+r.Plural, kind+"ListForAllNamespaces", pretty, "watchlist", "Watch "+objects+" in all namespaces"+deprecated+".")
	}
	within += "/" + r.Plural
	add(within, named, collection,
		"list", "List or watch "+objects+where+".",
		"post", "Create an object of kind "+kind+".",
		"deletecollection", "Delete objects of kind "+kind+".")
	add(within+"/{name}", named, item,
		"get", "Get one object of kind "+kind+".",
		"put", "Replace the "+kind+".",
		"patch", "Change some members of the "+kind+".",
		"delete", "Delete the "+kind+".")
	add("/watch"+within, named+"List", collection, "watchlist", "Watch "+objects+where+deprecated+".")
	add("/watch"+within+"/{name}", named, item,
		"watch", "Watch one object of kind "+kind+deprecated+" and a fieldSelector on metadata.name.")
	for _, s := range r.Subresources {
		r.Verbs, r.body = s.Verbs, nil
		if s.Body != nil {
			r.body = &s
		}
		add(within+"/{name}/"+s.Name, named+camelCase(s.Name, true), item,
			"get", "Get one object of kind "+kind+" with its "+s.Name+".",
			"put", "Replace the "+s.Name+" of the "+kind+".",
			"patch", "Change some members of the "+s.Name+" of the "+kind+".",
			"post", "Create the "+s.Name+" of the "+kind+".")
	}
}

func (gv GroupVersion) operationGroup() (id, tag string) {
	id, tag = operationWord(cmp.Or(gv.Group, "core"))
	return id + camelCase(gv.Version, true), tag + "_" + camelCase(gv.Version, false)
}

func operationWord(group string) (id, tag string) {
	group = strings.TrimSuffix(group, ".k8s.io")
	return camelCase(group, true), camelCase(group, false)
}

// camelCase joins the words of s without the characters that operation ids must not have.
func camelCase(s string, upper bool) string {
	var b strings.Builder
	for i, r := range s {
		if !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r)) {
			upper = true
			continue
		}
		if upper {
			r = unicode.ToUpper(r)
			upper = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// addParameters adds parameters to a path or an operation, and sorts all by name.
func (o object) addParameters(parameters []object) {
	before, _ := o["parameters"].([]object)
	if all := slices.Concat(before, parameters); len(all) > 0 {
		slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a["name"].(string), b["name"].(string)) })
		o["parameters"] = all
	}
}

// queryParameters returns the query parameters in sets of wordsText.
func queryParameters(words map[string]object, sets string) (out []object) {
	for set := range strings.FieldsSeq(sets) {
		def := words["parameters."+set]
		for name := range def["properties"].(object) {
			p := maps.Clone(def.property(name))
			p["name"], p["in"], p["uniqueItems"] = name, "query", true
			out = append(out, p)
		}
	}
	return out
}

func pathParameter(name, description string) object {
	return object{"name": name, "in": "path", "type": "string", "uniqueItems": true, "description": description, "required": true}
}
