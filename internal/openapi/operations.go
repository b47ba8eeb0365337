package openapi

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The media types of requests and answers, in the order of version 2.
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
	parameters []parameter // those of all operations
	operations []operation
}

// operation is one method of a path.
type operation struct {
	method, id, description string
	tag                     string
	action                  string // of operations on resources
	kind                    groupVersionKind
	parameters              []parameter
	consumes, produces      []string
	codes                   []string // of success
	answer                  string   // the definition that the answer is in the form of
}

// hoist moves the parameters that all operations of a path have to the path.
func (p *path) hoist() {
	shared := func(candidate parameter) bool {
		return !slices.ContainsFunc(p.operations, func(op operation) bool { return !slices.Contains(op.parameters, candidate) })
	}
	for _, candidate := range p.operations[0].parameters {
		if shared(candidate) {
			p.parameters = append(p.parameters, candidate)
		}
	}
	for i := range p.operations {
		op := &p.operations[i]
		op.parameters = slices.DeleteFunc(op.parameters, func(q parameter) bool { return slices.Contains(p.parameters, q) })
		sortParameters(op.parameters)
	}
	sortParameters(p.parameters)
}

// document is what one document of version 3 is about.
type document struct {
	versions []meta.GroupVersion
	paths    []path
}

// documents returns everything that is served by the names of the documents
// that describe it.
func (a API) documents() map[string]document {
	docs := map[string]document{
		"api":     discovery("/api/", "getCoreAPIVersions", "core", "List the versions of the core group.", "APIVersions"),
		"apis":    discovery("/apis/", "getAPIVersions", "apis", "List the groups.", "APIGroupList"),
		"version": discovery("/version/", "getCodeVersion", "version", "Tell the version of the server.", ""),
	}
	for _, gv := range a.GroupVersions {
		root := gv.root()
		group, tag := gv.operationGroup()
		doc := discovery(root+"/", "get"+group+"APIResources", tag, "List the resources of the group version.", "APIResourceList")
		doc.versions = []meta.GroupVersion{gv.GroupVersion}
		for _, r := range gv.Resources {
			doc.paths = append(doc.paths, resourcePaths(gv, r)...)
		}
		docs[strings.TrimPrefix(root, "/")] = doc
		if gv.Group != "" {
			group, tag := operationWord(gv.Group)
			docs["apis/"+gv.Group] = discovery("/apis/"+gv.Group+"/", "get"+group+"APIGroup", tag, "Describe the group.", "APIGroup")
		}
	}
	return docs
}

// discovery is a document with one path that answers with a description of the
// server; no answer stands for its version.
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
func resourcePaths(gv GroupVersion, r Resource) []path {
	group, tag := gv.operationGroup()
	kind := groupVersionKind{gv.GroupVersion, r.Kind}
	item, items := gv.definition(r.Kind), gv.definition(r.Kind+"List")
	status, event := metaPrefix+"Status", metaPrefix+"WatchEvent"
	// What the id of an operation is made of, and where objects lie.
	named, within, where := "Namespaced"+r.Kind, "/namespaces/{namespace}", " in a namespace"
	if r.ClusterScoped {
		named, within, where = r.Kind, "", ""
	}
	produces, produceStreams, consumes, consumePatches := documentTypes, streamTypes, []string{"*/*"}, patchTypes
	if r.Unstructured {
		produces = documentTypes[:2]
		produceStreams, consumes = produces, produces
		consumePatches = []string{patchTypes[0], patchTypes[1], patchTypes[3]}
	}
	op := func(method, action, verb, object, description, answer string, parameters []parameter, codes ...string) operation {
		return operation{
			method: method, id: verb + group + object, description: description, tag: tag, action: action, kind: kind,
			parameters: parameters, consumes: consumes, produces: produces, codes: codes, answer: answer,
		}
	}
	stream := func(action, verb, object, description, answer string, parameters []parameter) operation {
		o := op("get", action, verb, object, description, answer, parameters, "200")
		o.produces = produceStreams
		return o
	}
	patch := op("patch", "patch", "patch", named, "Change some members of the "+r.Kind+".", item,
		join(r.objectParameters(), patchParameters()), "200", "201")
	patch.consumes = consumePatches
	const deprecated = " Deprecated: list with the parameter watch"
	var paths []path
	if !r.ClusterScoped {
		paths = []path{
			{name: "/" + r.Plural, operations: []operation{
				stream("list", "list", r.Kind+"ForAllNamespaces", "List or watch the objects of kind "+r.Kind+" in all namespaces.", items, join(listParameters(), watchParameters(), prettyParameter())),
			}},
			{name: "/watch/" + r.Plural, operations: []operation{
				stream("watchlist", "watch", r.Kind+"ListForAllNamespaces", "Watch the objects of kind "+r.Kind+" in all namespaces."+deprecated+".", event, join(listParameters(), watchParameters(), prettyParameter())),
			}},
		}
	}
	paths = append(paths, []path{
		{name: within + "/" + r.Plural, operations: []operation{
			stream("list", "list", named, "List or watch the objects of kind "+r.Kind+where+".", items, join(r.collectionParameters(), listParameters(), watchParameters())),
			op("post", "post", "create", named, "Create an object of kind "+r.Kind+".", item, join(r.collectionParameters(), writeParameters(item)), "200", "201", "202"),
			op("delete", "deletecollection", "delete", "Collection"+named, "Delete objects of kind "+r.Kind+".", status, join(r.collectionParameters(), listParameters(), deleteParameters()), "200"),
		}},
		{name: within + "/" + r.Plural + "/{name}", operations: []operation{
			op("get", "get", "read", named, "Get one object of kind "+r.Kind+".", item, r.objectParameters(), "200"),
			op("put", "put", "replace", named, "Replace the "+r.Kind+".", item, join(r.objectParameters(), writeParameters(item)), "200", "201"),
			patch,
			op("delete", "delete", "delete", named, "Delete the "+r.Kind+".", status, join(r.objectParameters(), deleteParameters()), "200", "202"),
		}},
		{name: "/watch" + within + "/" + r.Plural, operations: []operation{
			stream("watchlist", "watch", named+"List", "Watch the objects of kind "+r.Kind+where+"."+deprecated+".", event, join(r.collectionParameters(), listParameters(), watchParameters())),
		}},
		{name: "/watch" + within + "/" + r.Plural + "/{name}", operations: []operation{
			stream("watch", "watch", named, "Watch one object of kind "+r.Kind+"."+deprecated+" and a fieldSelector on metadata.name.", event, join(r.objectParameters(), listParameters(), watchParameters())),
		}},
	}...)
	if r.Status {
		patch.id += "Status"
		patch.parameters = slices.Clone(patch.parameters) // each path takes out what its operations share
		patch.description = "Change some members of the status of the " + r.Kind + "."
		paths = append(paths, path{name: within + "/" + r.Plural + "/{name}/status", operations: []operation{
			op("get", "get", "read", named+"Status", "Get one object of kind "+r.Kind+" with its status.", item, r.objectParameters(), "200"),
			op("put", "put", "replace", named+"Status", "Replace the status of the "+r.Kind+".", item, join(r.objectParameters(), writeParameters(item)), "200", "201"),
			patch,
		}})
	}
	for i := range paths {
		paths[i].name = gv.root() + paths[i].name
		paths[i].hoist()
	}
	return paths
}

// operationGroup returns how ids and how tags name the group version.
func (gv GroupVersion) operationGroup() (id, tag string) {
	group := gv.Group
	if group == "" {
		group = "core"
	}
	id, tag = operationWord(group)
	return id + camelCase(gv.Version, true), tag + "_" + camelCase(gv.Version, false)
}

func operationWord(group string) (id, tag string) {
	group = strings.TrimSuffix(group, ".k8s.io")
	return camelCase(group, true), camelCase(group, false)
}

// camelCase makes one word of several, and leaves out what may not stand in
// the id of an operation.
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
