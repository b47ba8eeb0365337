package openapi

import (
	"reflect"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file describes the types that are not specific to a group. Some of them are Go
// types of package meta; the others exist only in the documents.

const (
	metaPrefix   = "io.k8s.apimachinery.pkg.apis.meta.v1."
	rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"
	versionInfo  = "io.k8s.apimachinery.pkg.version.Info"
)

// isMeta reports whether a Go type is in the group meta.k8s.io. DeleteOptions is in
// package registry, because the Go API does not have it.
func isMeta(goType reflect.Type) bool {
	path := goType.PkgPath()
	return path == reflect.TypeFor[meta.ObjectMeta]().PkgPath() || path == reflect.TypeFor[registry.DeleteOptions]().PkgPath()
}

// unversioned returns the API type of a kind that is the same in all groups.
func unversioned(kind string) []groupVersionKind {
	return []groupVersionKind{{meta.GroupVersion{Version: "v1"}, kind}}
}

// metaDefinitions returns the definitions that are not made from Go types.
func metaDefinitions() map[string]*definition {
	return map[string]*definition{
		metaPrefix + "Time":      {format: "date-time", description: "A point in time in whole seconds: RFC 3339, in UTC, without a fraction."},
		metaPrefix + "MicroTime": {format: "date-time", description: "A point in time in microseconds: RFC 3339 with exactly six digits of fraction."},
		metaPrefix + "FieldsV1":  {description: "A set of fields as a tree: \"f:name\" for a member, \"k:{...}\" for an item by its keys, \"v:...\" for an item by its value, \".\" for the container itself."},
		metaPrefix + "Patch":     {description: "A patch in the format that the Content-Type names."},
		rawExtension:             {description: "An object of any kind."},
		metaPrefix + "WatchEvent": {
			description:         "One change that a watch reports.",
			inEveryGroupVersion: "WatchEvent",
			fields: []property{
				{name: "type", value: value{typ: "string"}, required: true, zero: "", description: "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."},
				{name: "object", value: value{ref: rawExtension}, required: true, description: "The object after the change, or before it for DELETED; just a resourceVersion for BOOKMARK, a Status for ERROR."},
			},
		},
		metaPrefix + "APIVersions": {
			description: "The versions of the core group.",
			kinds:       unversioned("APIVersions"),
			fields: typed(
				required(atomic("versions", value{typ: "string"}, "The versions, the preferred one first.")),
				required(atomic("serverAddressByClientCIDRs", value{ref: metaPrefix + "ServerAddressByClientCIDR"}, "Addresses of the server by where the client is.")),
			),
		},
		metaPrefix + "APIGroupList": {
			description: "The groups that are served, other than the core group.",
			kinds:       unversioned("APIGroupList"),
			fields:      typed(required(atomic("groups", value{ref: metaPrefix + "APIGroup"}, "The groups."))),
		},
		metaPrefix + "APIGroup": {
			description: "A group with its versions.",
			kinds:       unversioned("APIGroup"),
			fields: typed(
				required(text("name", "Name of the group.")),
				property{name: "preferredVersion", value: value{ref: metaPrefix + "GroupVersionForDiscovery"}, zero: object{}, description: "The version to use where there is no reason for another."},
				atomic("serverAddressByClientCIDRs", value{ref: metaPrefix + "ServerAddressByClientCIDR"}, "Addresses of the server by where the client is."),
				required(atomic("versions", value{ref: metaPrefix + "GroupVersionForDiscovery"}, "The versions, the preferred one first.")),
			),
		},
		metaPrefix + "GroupVersionForDiscovery": {
			description: "A version of a group.",
			fields: []property{
				required(text("groupVersion", "The group and the version as \"group/version\".")),
				required(text("version", "The version alone.")),
			},
		},
		metaPrefix + "ServerAddressByClientCIDR": {
			description: "Where clients of one network find the server.",
			fields: []property{
				required(text("clientCIDR", "The network, as an IP range.")),
				required(text("serverAddress", "Host name or IP address of the server, with its port.")),
			},
		},
		metaPrefix + "APIResourceList": {
			description: "The resources of a group version.",
			kinds:       unversioned("APIResourceList"),
			fields: typed(
				required(text("groupVersion", "The group version that the resources are in.")),
				required(atomic("resources", value{ref: metaPrefix + "APIResource"}, "The resources.")),
			),
		},
		metaPrefix + "APIResource": {
			description: "A resource and what can be done with it.",
			fields: []property{
				required(text("name", "The plural, as it is in paths.")),
				required(text("singularName", "The singular, as people write it.")),
				{name: "namespaced", value: value{typ: "boolean"}, required: true, zero: false, description: "Whether the objects live in namespaces."},
				text("group", "The group of the objects where it is not that of the list."),
				text("version", "The version of the objects where it is not that of the list."),
				required(text("kind", "The kind of the objects.")),
				{name: "verbs", value: value{typ: "array", elem: &value{typ: "string"}}, required: true, description: "What can be done: create, delete, deletecollection, get, list, patch, update, watch."},
				atomic("shortNames", value{typ: "string"}, "Shorter names for the command line."),
				atomic("categories", value{typ: "string"}, "Names of the groups of resources that this one is listed with, such as \"all\"."),
				text("storageVersionHash", "Changes when objects come to be stored in another version. Not to be interpreted."),
			},
		},
		versionInfo: {
			description: "The version of the server.",
			fields: []property{
				required(text("major", "First number of the version.")),
				required(text("minor", "Second number of the version.")),
				text("emulationMajor", "First number of the version whose behaviour is emulated."),
				text("emulationMinor", "Second number of the version whose behaviour is emulated."),
				text("minCompatibilityMajor", "First number of the oldest version that this one works together with."),
				text("minCompatibilityMinor", "Second number of the oldest version that this one works together with."),
				required(text("gitVersion", "The whole version, such as \"v1.37.2\".")),
				required(text("gitCommit", "The commit it was built from.")),
				required(text("gitTreeState", "\"clean\", unless the sources had been changed since the commit.")),
				required(text("buildDate", "When it was built.")),
				required(text("goVersion", "The version of Go it was built with.")),
				required(text("compiler", "The Go compiler it was built with.")),
				required(text("platform", "Operating system and architecture.")),
			},
		},
	}
}

// typed returns fields with kind and apiVersion added.
func typed(fields ...property) []property {
	return append([]property{text("kind", noteKind), text("apiVersion", noteAPIVersion)}, fields...)
}

func text(name, description string) property {
	return property{name: name, value: value{typ: "string"}, description: description}
}

func atomic(name string, elem value, description string) property {
	return property{name: name, value: value{typ: "array", elem: &elem}, listType: "atomic", description: description}
}

// required returns p as a required member.
func required(p property) property {
	p.required, p.zero = true, zero(p.value)
	return p
}
