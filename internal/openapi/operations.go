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
		op.parameters = slices.DeleteFunc(op.parameters, func(q parameter) bool { return slices.Contains(p.parameters, q) })
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
func resourcePaths(gv GroupVersion, r Resource) []path {
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
	patch := func(object, what string) operation {
		o := op("patch", "patch", "patch", object, "Change some members of the "+what+".", item,
			slices.Concat(r.objectParameters(), patchParameters()), "200", "201")
		o.consumes = consumePatches
		return o
	}
	const deprecated = " Deprecated: list with the parameter watch"
	var paths []path
	if !r.ClusterScoped {
		paths = []path{
			{name: "/" + r.Plural, operations: []operation{
				stream("list", "list", r.Kind+"ForAllNamespaces", "List or watch the objects of kind "+r.Kind+" in all namespaces.", items, slices.Concat(listParameters(), watchParameters(), prettyParameter())),
			}},
			{name: "/watch/" + r.Plural, operations: []operation{
				stream("watchlist", "watch", r.Kind+"ListForAllNamespaces", "Watch the objects of kind "+r.Kind+" in all namespaces."+deprecated+".", event, slices.Concat(listParameters(), watchParameters(), prettyParameter())),
			}},
		}
	}
	paths = append(paths, []path{
		{name: within + "/" + r.Plural, operations: []operation{
			stream("list", "list", named, "List or watch the objects of kind "+r.Kind+where+".", items, slices.Concat(r.collectionParameters(), listParameters(), watchParameters())),
			op("post", "post", "create", named, "Create an object of kind "+r.Kind+".", item, slices.Concat(r.collectionParameters(), writeParameters(item)), "200", "201", "202"),
			op("delete", "deletecollection", "delete", "Collection"+named, "Delete objects of kind "+r.Kind+".", status, slices.Concat(r.collectionParameters(), listParameters(), deleteParameters()), "200"),
		}},
		{name: within + "/" + r.Plural + "/{name}", operations: []operation{
			op("get", "get", "read", named, "Get one object of kind "+r.Kind+".", item, r.objectParameters(), "200"),
			op("put", "put", "replace", named, "Replace the "+r.Kind+".", item, slices.Concat(r.objectParameters(), writeParameters(item)), "200", "201"),
			patch(named, r.Kind),
			op("delete", "delete", "delete", named, "Delete the "+r.Kind+".", status, slices.Concat(r.objectParameters(), deleteParameters()), "200", "202"),
		}},
		{name: "/watch" + within + "/" + r.Plural, operations: []operation{
			stream("watchlist", "watch", named+"List", "Watch the objects of kind "+r.Kind+where+"."+deprecated+".", event, slices.Concat(r.collectionParameters(), listParameters(), watchParameters())),
		}},
		{name: "/watch" + within + "/" + r.Plural + "/{name}", operations: []operation{
			stream("watch", "watch", named, "Watch one object of kind "+r.Kind+"."+deprecated+" and a fieldSelector on metadata.name.", event, slices.Concat(r.objectParameters(), listParameters(), watchParameters())),
		}},
	}...)
	if r.Status {
		paths = append(paths, path{name: within + "/" + r.Plural + "/{name}/status", operations: []operation{
			op("get", "get", "read", named+"Status", "Get one object of kind "+r.Kind+" with its status.", item, r.objectParameters(), "200"),
			op("put", "put", "replace", named+"Status", "Replace the status of the "+r.Kind+".", item, slices.Concat(r.objectParameters(), writeParameters(item)), "200", "201"),
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

func query(name, typ, description string) parameter {
	return parameter{name: name, in: "query", typ: typ, description: description}
}

func prettyParameter() []parameter {
	return []parameter{query("pretty", "string", "\"true\" indents the answer. Default: \"false\", unless the user agent is a browser or a tool such as curl.")}
}

// collectionParameters returns the parameters of the path of a collection.
func (r Resource) collectionParameters() []parameter {
	if r.ClusterScoped {
		return prettyParameter()
	}
	return append(prettyParameter(), parameter{
		name: "namespace", in: "path", typ: "string", required: true, description: "The namespace of the objects.",
	})
}

// objectParameters returns the parameters of the path of an object.
func (r Resource) objectParameters() []parameter {
	return append(r.collectionParameters(), parameter{
		name: "name", in: "path", typ: "string", required: true, description: "The name of the " + r.Kind + ".",
	})
}

// listParameters returns the common parameters of list, watch and deletecollection.
func listParameters() []parameter {
	return []parameter{
		query("continue", "string", "The token of the next page, from the metadata of the page before. The other parameters must stay the same; 410 says that the token is too old."),
		query("fieldSelector", "string", "Selects objects by some of their fields, such as \"metadata.name=a\". Default: all."),
		query("labelSelector", "string", "Selects objects by their labels, such as \"app=a,tier in (b,c)\". Default: all."),
		query("limit", "integer", "The most items that a page may have. Default: no limit."),
		query("resourceVersion", "string", "The version that the answer must be at least as new as, or exactly of; see resourceVersionMatch. A watch starts after it. \"0\" stands for any version."),
		query("resourceVersionMatch", "string", "What resourceVersion means to a list: Exact or NotOlderThan."),
		query("sendInitialEvents", "boolean", "Lets a watch begin with the objects that are there, followed by a bookmark with the annotation k8s.io/initial-events-end. Needs resourceVersionMatch=NotOlderThan."),
		query("shardSelector", "string", "Selects objects by a range of a hash of one of their fields. Default: all."),
		query("timeoutSeconds", "integer", "Ends a watch after this time, in seconds."),
	}
}

func watchParameters() []parameter {
	return []parameter{
		query("allowWatchBookmarks", "boolean", "Asks for events of type BOOKMARK, which carry a resourceVersion to go on from."),
		query("watch", "boolean", "Answers with a stream of changes in place of a list."),
	}
}

func dryRunParameter() parameter {
	return query("dryRun", "string", "\"All\" does everything but the change itself.")
}

func fieldValidationParameter() parameter {
	return query("fieldValidation", "string", "What happens to unknown and duplicate members of the body: Ignore, Warn (the default), or Strict, which refuses them.")
}

// writeParameters returns the parameters of a create or update. item is the definition
// of the object.
func writeParameters(item string) []parameter {
	return []parameter{
		{name: "body", in: "body", schema: item, required: true},
		dryRunParameter(),
		query("fieldManager", "string", "The name under which managedFields record the change. At most 128 printable characters. Default: the start of the user agent."),
		fieldValidationParameter(),
	}
}

func patchParameters() []parameter {
	return []parameter{
		{name: "body", in: "body", schema: metaPrefix + "Patch", required: true},
		dryRunParameter(),
		query("fieldManager", "string", "The name under which managedFields record the change. At most 128 printable characters. Required for apply patches; default for others: the start of the user agent."),
		fieldValidationParameter(),
		query("force", "boolean", "Lets an apply patch take fields from other managers. No other patch may have it."),
	}
}

func deleteParameters() []parameter {
	return []parameter{
		{name: "body", in: "body", schema: metaPrefix + "DeleteOptions"},
		dryRunParameter(),
		query("gracePeriodSeconds", "integer", "How long the object has to go in good order, in seconds. No effect on kinds without graceful deletion."),
		query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean", "Deletes objects that can no longer be read, and only those."),
		query("orphanDependents", "boolean", "The old form of propagationPolicy: true keeps the dependents."),
		query("propagationPolicy", "string", "What happens to the dependents: Orphan, Background or Foreground."),
	}
}
