package openapi

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/kubecoord/kubecoord/store/meta"
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

// path is one path with its operations.
type path struct {
	name       string
	parameters []parameter // shared by all operations
	operations []operation
}

// operation is one method of a path.
type operation struct {
	method, id, description string
	tag                     string
	action                  string // empty for discovery
	kind                    groupVersionKind
	parameters              []parameter
	consumes, produces      []string
	codes                   []string // of successful answers
	answer                  string   // the name of the definition of the answer
}

// moveCommonParameters moves the parameters that all operations have to the path, and sorts
// all by name.
func (p *path) moveCommonParameters() {
	p.parameters = slices.DeleteFunc(slices.Clone(p.operations[0].parameters), func(q parameter) bool {
		return slices.ContainsFunc(p.operations, func(op operation) bool { return !slices.Contains(op.parameters, q) })
	})
	byName := func(a, b parameter) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(p.parameters, byName)
	for i := range p.operations {
		op := &p.operations[i]
		op.parameters = slices.DeleteFunc(slices.Clone(op.parameters), func(q parameter) bool { return slices.Contains(p.parameters, q) })
		slices.SortFunc(op.parameters, byName)
	}
}

// document is the content of one document of version 3.
type document struct {
	versions []meta.GroupVersion
	paths    []path
}

// documents returns the contents of the documents of version 3 by their names.
func (a API) documents() map[string]document {
	docs := map[string]document{
		"api":     discovery("/api/", "getCoreAPIVersions", "core", "List the versions of the core group.", "APIVersions"),
		"apis":    discovery("/apis/", "getAPIVersions", "apis", "List the groups.", "APIGroupList"),
		"version": discovery("/version/", "getCodeVersion", "version", "Tell the version of the server.", ""),
	}
	words := words()
	for _, gv := range a.GroupVersions {
		root := gv.root()
		group, tag := gv.operationGroup()
		doc := discovery(root+"/", "get"+group+"APIResources", tag, "List the resources of the group version.", "APIResourceList")
		doc.versions = []meta.GroupVersion{gv.GroupVersion}
		for _, r := range gv.Resources {
			doc.paths = append(doc.paths, resourcePaths(gv, r, words)...)
		}
		docs[strings.TrimPrefix(root, "/")] = doc
		if gv.Group != "" {
			group, tag := operationWord(gv.Group)
			docs["apis/"+gv.Group] = discovery("/apis/"+gv.Group+"/", "get"+group+"APIGroup", tag, "Describe the group.", "APIGroup")
		}
	}
	return docs
}

// discovery returns a document with one path, for discovery. answer is the name of a
// definition of package meta, or "" for the version of the server.
func discovery(name, id, tag, description, answer string) document {
	op := operation{
		method: "get", id: id, description: description, tag: tag,
		consumes: documentTypes, produces: documentTypes, codes: []string{"200"}, answer: metaPrefix + answer,
	}
	if answer == "" {
		op.consumes, op.produces, op.answer = documentTypes[:1], documentTypes[:1], versionInfo
	}
	return document{paths: []path{{name: name, operations: []operation{op}}}}
}

// resourcePaths returns the paths of one resource.
func resourcePaths(gv GroupVersion, r Resource, words map[string]*definition) []path {
	group, tag := gv.operationGroup()
	kind := groupVersionKind{gv.GroupVersion, r.Kind}
	item, items := gv.definition(r.Kind), gv.definition(r.Kind+"List")
	status, event := metaPrefix+"Status", metaPrefix+"WatchEvent"
	// Parts of operation ids, of paths and of descriptions.
	named, within, where := "Namespaced"+r.Kind, "/namespaces/{namespace}", " in a namespace"
	if r.ClusterScoped {
		named, within, where = r.Kind, "", ""
	}
	produces, produceStreams, consumes, consumePatches := documentTypes, streamTypes, []string{"*/*"}, patchTypes
	if r.JSONOnly {
		produces = documentTypes[:2]
		produceStreams, consumes = produces, produces
	}
	if r.Unstructured {
		consumePatches = []string{patchTypes[0], patchTypes[1], patchTypes[3]}
	}
	list, watch, collection := queryParameters(words, "list"), queryParameters(words, "watch"), queryParameters(words, "pretty")
	if !r.ClusterScoped {
		collection = append(collection, pathParameter("namespace", "The namespace of the objects."))
	}
	object := append(slices.Clip(collection), pathParameter("name", "The name of the "+r.Kind+"."))
	write := append(queryParameters(words, "change", "write"), bodyParameter(item, true)...)
	patchParameters := append(queryParameters(words, "change", "patch"), bodyParameter(metaPrefix+"Patch", true)...)
	deletion := append(queryParameters(words, "delete"), bodyParameter(metaPrefix+"DeleteOptions", false)...)
	op := func(method, action, verb, subject, description, answer string, parameters []parameter, codes ...string) operation {
		return operation{
			method: method, id: verb + group + subject, description: description, tag: tag, action: action, kind: kind,
			parameters: parameters, consumes: consumes, produces: produces, codes: codes, answer: answer,
		}
	}
	stream := func(action, verb, subject, description, answer string, parameters []parameter) operation {
		o := op("get", action, verb, subject, description, answer, parameters, "200")
		o.produces = produceStreams
		return o
	}
	patch := func(subject, what string) operation {
		o := op("patch", "patch", "patch", subject, "Change some members of the "+what+".", item,
			slices.Concat(object, patchParameters), "200", "201")
		o.consumes = consumePatches
		return o
	}
	const deprecated = " Deprecated: list with the parameter watch"
	var paths []path
	if !r.ClusterScoped {
		paths = []path{
			{name: "/" + r.Plural, operations: []operation{
				stream("list", "list", r.Kind+"ForAllNamespaces", "List or watch the objects of kind "+r.Kind+" in all namespaces.", items, slices.Concat(list, watch, queryParameters(words, "pretty"))),
			}},
			{name: "/watch/" + r.Plural, operations: []operation{
				stream("watchlist", "watch", r.Kind+"ListForAllNamespaces", "Watch the objects of kind "+r.Kind+" in all namespaces."+deprecated+".", event, slices.Concat(list, watch, queryParameters(words, "pretty"))),
			}},
		}
	}
	paths = append(paths, []path{
		{name: within + "/" + r.Plural, operations: []operation{
			stream("list", "list", named, "List or watch the objects of kind "+r.Kind+where+".", items, slices.Concat(collection, list, watch)),
			op("post", "post", "create", named, "Create an object of kind "+r.Kind+".", item, slices.Concat(collection, write), "200", "201", "202"),
			op("delete", "deletecollection", "delete", "Collection"+named, "Delete objects of kind "+r.Kind+".", status, slices.Concat(collection, list, deletion), "200"),
		}},
		{name: within + "/" + r.Plural + "/{name}", operations: []operation{
			op("get", "get", "read", named, "Get one object of kind "+r.Kind+".", item, object, "200"),
			op("put", "put", "replace", named, "Replace the "+r.Kind+".", item, slices.Concat(object, write), "200", "201"),
			patch(named, r.Kind),
			op("delete", "delete", "delete", named, "Delete the "+r.Kind+".", status, slices.Concat(object, deletion), "200", "202"),
		}},
		{name: "/watch" + within + "/" + r.Plural, operations: []operation{
			stream("watchlist", "watch", named+"List", "Watch the objects of kind "+r.Kind+where+"."+deprecated+".", event, slices.Concat(collection, list, watch)),
		}},
		{name: "/watch" + within + "/" + r.Plural + "/{name}", operations: []operation{
			stream("watch", "watch", named, "Watch one object of kind "+r.Kind+"."+deprecated+" and a fieldSelector on metadata.name.", event, slices.Concat(object, list, watch)),
		}},
	}...)
	if r.Status {
		paths = append(paths, path{name: within + "/" + r.Plural + "/{name}/status", operations: []operation{
			op("get", "get", "read", named+"Status", "Get one object of kind "+r.Kind+" with its status.", item, object, "200"),
			op("put", "put", "replace", named+"Status", "Replace the status of the "+r.Kind+".", item, slices.Concat(object, write), "200", "201"),
			patch(named+"Status", "status of the "+r.Kind),
		}})
	}
	for i := range paths {
		paths[i].name = gv.root() + paths[i].name
		paths[i].moveCommonParameters()
	}
	return paths
}

// operationGroup returns the name of the group version in operation ids and in tags.
func (gv GroupVersion) operationGroup() (id, tag string) {
	id, tag = operationWord(cmp.Or(gv.Group, "core"))
	return id + camelCase(gv.Version, true), tag + "_" + camelCase(gv.Version, false)
}

func operationWord(group string) (id, tag string) {
	group = strings.TrimSuffix(group, ".k8s.io")
	return camelCase(group, true), camelCase(group, false)
}

// camelCase joins the words of s without the characters that operation ids must not
// have.
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

// parameter is one parameter of an operation, or its body.
type parameter struct {
	name, in, typ, description string
	required                   bool
	schema                     string // the definition of a body
}

// queryParameters returns the query parameters that wordsText lists under names.
func queryParameters(words map[string]*definition, names ...string) (out []parameter) {
	for _, name := range names {
		for _, f := range words["parameters."+name].fields {
			out = append(out, parameter{name: f.name, in: "query", typ: f.typ, description: f.description})
		}
	}
	return out
}

func pathParameter(name, description string) parameter {
	return parameter{name: name, in: "path", typ: "string", description: description, required: true}
}

func bodyParameter(schema string, required bool) []parameter {
	return []parameter{{name: "body", in: "body", schema: schema, required: required}}
}
