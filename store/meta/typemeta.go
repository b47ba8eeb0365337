package meta

import "strings"

// TypeMeta is the type of an object on the wire. It is empty in objects from a store, as in
// those from typed Kubernetes clients. Answers over HTTP have the type of the served version.
type TypeMeta struct {
	// Kind is the type's name in CamelCase, such as "Lease".
	Kind string `json:"kind,omitempty"`
	// APIVersion is "group/version", or just "version" for the core group.
	APIVersion string `json:"apiVersion,omitempty"`
}

// GetTypeMeta returns t, so that a type that embeds TypeMeta is an object.
func (t *TypeMeta) GetTypeMeta() *TypeMeta { return t }

// GroupVersion is an API group and one of its versions.
type GroupVersion struct {
	Group   string // "" is the core group
	Version string
}

// String returns "group/version", or just the version for the core group.
func (gv GroupVersion) String() string {
	if gv.Group == "" {
		return gv.Version
	}
	return gv.Group + "/" + gv.Version
}

// ParseGroupVersion splits an apiVersion. It returns false if there is more than one slash.
// "" and "/" give the zero value.
func ParseGroupVersion(s string) (GroupVersion, bool) {
	group, version, found := strings.Cut(s, "/")
	if !found {
		return GroupVersion{Version: s}, true
	}
	if strings.Contains(version, "/") {
		return GroupVersion{}, false
	}
	return GroupVersion{Group: group, Version: version}, true
}

// GroupResource is a resource without its version.
type GroupResource struct {
	Group    string // "" is the core group
	Resource string // the plural, such as "leases"
}

// String returns "resource.group", or just the resource for the core group.
func (gr GroupResource) String() string { return qualified(gr.Resource, gr.Group) }

// GroupKind is a kind without its version.
type GroupKind struct {
	Group string // "" is the core group
	Kind  string // such as "Lease"
}

// String returns "Kind.group", or just the kind for the core group.
func (gk GroupKind) String() string { return qualified(gk.Kind, gk.Group) }

func qualified(name, group string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// Object is an object of any kind. A pointer to a struct that embeds [TypeMeta] and [ObjectMeta] is one. The results are the parts of the
// object itself, to be read and changed; they must not be kept longer than the object.
type Object interface {
	GetTypeMeta() *TypeMeta
	GetObjectMeta() *ObjectMeta
}
