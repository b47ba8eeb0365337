package openapi

import (
	_ "embed" // for wordsText
	"reflect"
	"slices"
	"strings"

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

// words returns the definitions of wordsText by their names. If a definition is made from a Go
// type too, its members have no types.
func words() map[string]object {
	out := map[string]object{}
	var def object
	for line := range strings.Lines(wordsText) {
		head, description, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		head, list, _ := strings.Cut(strings.TrimSuffix(head, ")"), " (")
		if name, ok := strings.CutPrefix(head, "\t"); ok {
			attributes := strings.Split(list, ", ")
			schema := schemaOf(attributes)
			schema.describe(description)
			def.add(name, schema, slices.Contains(attributes, "required"))
			continue
		}
		def = object{"type": "object", "description": description}
		for name := range strings.FieldsSeq(head) {
			out[name] = def
		}
		switch list {
		case "date-time":
			def["type"], def["format"] = "string", list
		case "kind":
			def.setKind(meta.GroupVersion{Version: "v1"}, strings.TrimPrefix(head, metaPrefix))
			def.addTypeMeta()
		}
	}
	return out
}

func schemaOf(attributes []string) object {
	o := object{}
	for _, attribute := range attributes {
		list, elem, isList := strings.Cut(attribute, "list of ")
		enum, isEnum := strings.CutPrefix(attribute, "one of ")
		switch {
		case attribute == "", attribute == "required":
		case isEnum:
			o["enum"] = strings.Fields(enum)
		case isList:
			o["type"], o["items"] = "array", typeOf(elem)
			if list != "" {
				o["x-kubernetes-list-type"] = strings.TrimSpace(list)
			}
		default:
			o = member(typeOf(attribute))
		}
	}
	if slices.Contains(attributes, "required") {
		o.setZero()
	} else if o["allOf"] != nil {
		o["default"] = object{}
	}
	return o
}

// typeOf returns the schema of a type in wordsText that is no list.
func typeOf(name string) object {
	switch {
	case name == "string", name == "boolean", name == "integer":
		return object{"type": name}
	case strings.Contains(name, "."):
		return ref(name)
	}
	return ref(metaPrefix + name)
}

func isComplete(def object) bool {
	properties, _ := def["properties"].(object)
	for _, p := range properties {
		if p := p.(object); p["type"] == nil && p["allOf"] == nil {
			return false
		}
	}
	return true
}

// The names of definitions that code refers to.
const (
	metaPrefix  = "io.k8s.apimachinery.pkg.apis.meta.v1."
	versionInfo = "io.k8s.apimachinery.pkg.version.Info"
)

// isMeta reports whether a Go type is in the group meta.k8s.io.
func isMeta(goType reflect.Type) bool {
	return goType.PkgPath() == reflect.TypeFor[meta.ObjectMeta]().PkgPath()
}

// commonNote returns the description of a member that all kinds have, or "".
func commonNote(name string, goType reflect.Type) string {
	switch {
	case goType == reflect.TypeFor[meta.ObjectMeta]():
		return "Name, namespace, labels and all else that objects of every kind have."
	case goType == reflect.TypeFor[string]() && name == "kind":
		return "The type of the object in CamelCase. Cannot be changed."
	case goType == reflect.TypeFor[string]() && name == "apiVersion":
		return "The group and the version of the type, as \"group/version\", or just the version for the core group."
	}
	return ""
}
