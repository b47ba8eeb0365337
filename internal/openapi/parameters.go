package openapi

import (
	"cmp"
	"slices"
)

// parameter is one parameter of an operation, or its body.
type parameter struct {
	name, in, typ, description string
	required                   bool
	schema                     string // the definition of a body
}

func sortParameters(list []parameter) {
	slices.SortFunc(list, func(a, b parameter) int { return cmp.Compare(a.name, b.name) })
}

func join(lists ...[]parameter) []parameter { return slices.Concat(lists...) }

func query(name, typ, description string) parameter {
	return parameter{name: name, in: "query", typ: typ, description: description}
}

func prettyParameter() []parameter {
	return []parameter{query("pretty", "string", "\"true\" indents the answer. Default: \"false\", unless the user agent is a browser or a tool such as curl.")}
}

// collectionParameters are those of paths to a collection that can be written to.
func (r Resource) collectionParameters() []parameter {
	if r.ClusterScoped {
		return prettyParameter()
	}
	return append(prettyParameter(), parameter{
		name: "namespace", in: "path", typ: "string", required: true, description: "The namespace of the objects.",
	})
}

// objectParameters are those of paths that name an object.
func (r Resource) objectParameters() []parameter {
	return append(r.collectionParameters(), parameter{
		name: "name", in: "path", typ: "string", required: true, description: "The name of the " + r.Kind + ".",
	})
}

// listParameters are what a list, a watch and the deletion of a collection
// have in common.
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

// writeParameters are those of a create or an update of an object in the form
// of the given definition.
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
