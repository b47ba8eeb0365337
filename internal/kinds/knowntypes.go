package kinds

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// schemeName replaces the source position of the scheme that a real server prints.
const schemeName = "kubecoord"

// A real server answers a body of a wrong type with one of two errors: a type of its scheme
// cannot be converted, and any other type is not registered. This file lists the types of that
// scheme that are not served. Their bodies are not decoded first, as they are on a real server, but for a Status and DeleteOptions.

// isUnversioned reports whether a kind is known in every version.
func isUnversioned(kind string) bool {
	switch kind {
	case "Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList":
		return true
	}
	return false
}

// isMetaType reports whether a type is registered where DeleteOptions are expected
// (upstream: apimachinery, meta/internalversion/scheme).
func isMetaType(t meta.TypeMeta) bool {
	switch t.Kind {
	case "CreateOptions", "UpdateOptions": // in every version
		return true
	case "ListOptions", "GetOptions", "PatchOptions", "WatchEvent":
		return t.APIVersion == "meta.k8s.io/v1"
	case "TableOptions", "Table", "PartialObjectMetadata", "PartialObjectMetadataList":
		return t.APIVersion == "meta.k8s.io/v1" || t.APIVersion == "meta.k8s.io/v1beta1"
	}
	return false
}

// readable returns the served type for a type that a real server reads but no longer
// serves: Leases of v1beta1 (served until 1.22) have the members of v1.
func readable(t meta.TypeMeta) meta.TypeMeta {
	if t == (meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1beta1"}) {
		t.APIVersion = "coordination.k8s.io/v1"
	}
	return t
}

// isOptions reports whether a kind is in every version of every built-in group.
func isOptions(kind string) bool {
	switch kind {
	case "WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions":
		return true
	}
	return false
}

func isBuiltIn(t meta.TypeMeta) bool {
	for line := range strings.Lines(builtInTypes) {
		versions, kinds, _ := strings.Cut(line, ": ")
		if !slices.Contains(strings.Fields(versions), t.APIVersion) {
			continue
		}
		if isOptions(t.Kind) {
			return true
		}
		for _, kind := range strings.Fields(kinds) {
			kind, withoutList := strings.CutSuffix(kind, "!")
			if t.Kind == kind || t.Kind == kind+"List" && !withoutList {
				return true
			}
		}
	}
	return false
}

// builtInTypes lists the scheme of kube-apiserver 1.37 (upstream: pkg/api/legacyscheme) without the kinds that are
// served: the packages of k8s.io/api except apidiscovery. Each kind has a list, except those marked with "!".
//
//go:embed builtintypes.txt
var builtInTypes string

func unregistered(t meta.TypeMeta) error {
	if group, ok := strings.CutSuffix("/"+t.APIVersion, "/__internal"); ok {
		return fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", t.Kind, strings.TrimPrefix(group, "/"), schemeName)
	}
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", t.Kind, t.APIVersion, schemeName)
}

// ErrNoType is the error of a body of a custom resource's subresource that cannot be decoded: upstream looks for the name of its Go type
// in a scheme that does not have it.
func ErrNoType(t Target) error {
	return meta.NewBadRequest("no kind is registered for the type %s in scheme %q", t.WireType(), schemeName)
}

// InternalType returns the Go type that a real server converts a body to, as errors quote it. Its package is named
// after the group. A custom resource is not converted; for it InternalType returns the type of the version.
func (t Target) InternalType() string {
	if !t.Kind.info.Native {
		return t.WireType()
	}
	group, _, _ := strings.Cut(t.Kind.Origin().info.Group, ".") // both groups of an Event have one internal type
	return cmp.Or(group, "core") + "." + t.Kind.info.Kind
}

// WireType returns the Go type of a body before a real server converts it. The bodies of subresources of custom resources stay of it.
func (t Target) WireType() string { return t.version() + "." + t.Kind.info.Kind }

// unconvertible returns the error for a body of a registered type that is not the expected one. A Status and DeleteOptions are decoded
// first, as upstream does with all of them.
func (d *decoded) unconvertible(raw []byte, f Format, to string) (err error) {
	switch d.named.Kind {
	case "Status":
		err = decodeAs(StatusType(), raw, f, new(meta.Status))
	case "DeleteOptions":
		err = decodeAs(deleteOptionsType(), raw, f, new(DeleteOptions))
	}
	return cmp.Or(err, unconvertible(d.named, to))
}

// unconvertible returns the error for a registered type that is not the expected one.
// to is the Go type of the expected one.
func unconvertible(t meta.TypeMeta, to string) error {
	version := versionOf(t)
	if isUnversioned(t.Kind) || isOptions(t.Kind) || isMetaType(t) && t.Kind != "PartialObjectMetadataList" {
		version = "v1" // the package these types are in
	}
	return fmt.Errorf("converting (%s.%s) to (%s): unknown conversion", version, t.Kind, to)
}

// versionOf returns the version without the group.
func versionOf(t meta.TypeMeta) string {
	return t.APIVersion[strings.LastIndexByte(t.APIVersion, '/')+1:]
}
