package openapi

import (
	_ "embed" // for wordsText
	"reflect"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// wordsText has a line for each definition, followed by a line for each of its members:
//
//	name of the definition, or names of equal ones (attributes): description
//		name of the member (attributes): description
//
// A definition may have the attributes "date-time", the format of a string, or "kind": it is an
// API type that is the same in all groups. A member may be "required", or "one of" some values.
// The type of a member is written here only if no Go type declares the member: string, boolean,
// integer, the name of another definition, or a list of these.
//
// A definition whose name begins with "parameters." lists query parameters.
//
//go:embed words.txt
var wordsText string

// words returns the definitions of wordsText by their names. Those that are made from Go types
// too have members without types.
func words() map[string]*definition {
	out := map[string]*definition{}
	var def *definition
	for line := range strings.Lines(wordsText) {
		head, description, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		head, list, _ := strings.Cut(strings.TrimSuffix(head, ")"), " (")
		attributes := strings.Split(list, ", ")
		if name, ok := strings.CutPrefix(head, "\t"); ok {
			def.fields = append(def.fields, memberOf(name, description, attributes))
			continue
		}
		def = &definition{description: description}
		for name := range strings.FieldsSeq(head) {
			out[name] = def
		}
		switch list {
		case "date-time":
			def.format = list
		case "kind":
			def.kinds = unversioned(strings.TrimPrefix(head, metaPrefix))
			def.fields = []property{text("kind"), text("apiVersion")}
		}
	}
	return out
}

// memberOf returns a member of wordsText.
func memberOf(name, description string, attributes []string) property {
	p := property{name: name, description: description}
	for _, attribute := range attributes {
		list, elem, isList := strings.Cut(attribute, "list of ")
		enum, isEnum := strings.CutPrefix(attribute, "one of ")
		switch {
		case attribute == "":
		case attribute == "required":
			p.required = true
		case isEnum:
			p.enum = strings.Fields(enum)
		case isList:
			p.value, p.listType = value{typ: "array", elem: new(typeOf(elem))}, strings.TrimSpace(list)
		default:
			p.value = typeOf(attribute)
		}
	}
	if p.required {
		p.zero = zero(p.value)
	} else if p.ref != "" {
		p.zero = object{}
	}
	return p
}

// typeOf returns a type of wordsText that is no list.
func typeOf(name string) value {
	switch {
	case name == "string", name == "boolean", name == "integer":
		return value{typ: name}
	case strings.Contains(name, "."):
		return value{ref: name}
	}
	return value{ref: metaPrefix + name}
}

// isComplete reports whether all members have types.
func (def *definition) isComplete() bool {
	return !slices.ContainsFunc(def.fields, func(p property) bool { return p.typ == "" && p.ref == "" })
}

// member returns the member of a name, or a property without values.
func (def *definition) member(name string) property {
	if i := slices.IndexFunc(def.fields, func(p property) bool { return p.name == name }); i >= 0 {
		return def.fields[i]
	}
	return property{}
}

// The names of definitions that code refers to.
const (
	metaPrefix  = "io.k8s.apimachinery.pkg.apis.meta.v1."
	versionInfo = "io.k8s.apimachinery.pkg.version.Info"
)

// isMeta reports whether a Go type is in the group meta.k8s.io. DeleteOptions is in
// package registry, because it is not part of the Go API.
func isMeta(goType reflect.Type) bool {
	path := goType.PkgPath()
	return path == reflect.TypeFor[meta.ObjectMeta]().PkgPath() || path == reflect.TypeFor[registry.DeleteOptions]().PkgPath()
}

// unversioned returns the API type of a kind that is the same in all groups.
func unversioned(kind string) []groupVersionKind {
	return []groupVersionKind{{meta.GroupVersion{Version: "v1"}, kind}}
}

// text returns a member of type string that all kinds have.
func text(name string) property {
	return property{name: name, value: value{typ: "string"}, description: commonNote(name, reflect.TypeFor[string]())}
}

// commonNote returns the description of a member that all kinds have, or "".
func commonNote(name string, goType reflect.Type) string {
	switch {
	case goType == reflect.TypeFor[meta.ObjectMeta]():
		return "Name, namespace, labels and all else that objects of every kind have."
	case goType == reflect.TypeFor[string]() && name == "kind":
		return "The type of the object in CamelCase. Cannot be changed; a request may leave it out where its path tells."
	case goType == reflect.TypeFor[string]() && name == "apiVersion":
		return "The group and the version of the type, as \"group/version\", or just the version for the core group."
	}
	return ""
}
