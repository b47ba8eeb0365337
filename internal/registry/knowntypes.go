package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// schemeName stands where a real server prints the source position of its type
// registry.
const schemeName = "kubecoord"

// A body that names the wrong type is told apart by whether a real server
// knows that type at all. This file holds what it knows beyond the kinds that
// are served.

// isUnversioned reports whether a kind is known in every version.
func isUnversioned(kind string) bool {
	switch kind {
	case "Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList":
		return true
	}
	return false
}

// isMetaOptions reports whether a kind of meta.k8s.io can stand where
// DeleteOptions are expected, if only to be refused.
func isMetaOptions(kind string) bool {
	switch kind {
	case "ListOptions", "CreateOptions", "UpdateOptions", "PatchOptions", "GetOptions", "TableOptions", "Table", "PartialObjectMetadata", "PartialObjectMetadataList":
		return true
	}
	return false
}

// readable returns a type as one that is served, if a real server can read it
// under another version: Leases of v1beta1, which have the members of v1, though
// they have not been served since 1.22.
func readable(t meta.TypeMeta) meta.TypeMeta {
	if t == (meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1beta1"}) {
		t.APIVersion = "coordination.k8s.io/v1"
	}
	return t
}

// isKnown reports whether a real server knows a type, though it is not served, of a
// version that is: the options of the verbs, and the other kinds of the core group.
func isKnown(t meta.TypeMeta) bool {
	switch t.Kind {
	case "WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions":
		return true
	}
	switch t.APIVersion {
	case "v1":
		return t.Kind == "List" || slices.Contains(coreKinds(), strings.TrimSuffix(t.Kind, "List"))
	case "coordination.k8s.io/v1beta1":
		return t.Kind == "LeaseList"
	}
	return false
}

func coreKinds() []string {
	return strings.Fields(`Binding ComponentStatus ConfigMap Endpoints EphemeralContainers Event LimitRange Namespace
		Node NodeProxyOptions PersistentVolume PersistentVolumeClaim Pod PodAttachOptions PodExecOptions PodLogOptions
		PodPortForwardOptions PodProxyOptions PodStatusResult PodTemplate RangeAllocation ReplicationController
		ResourceQuota Secret SerializedReference Service ServiceAccount ServiceProxyOptions`)
}

func unregistered(t meta.TypeMeta) error {
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", t.Kind, t.APIVersion, schemeName)
}

// InternalType returns the Go type that a real server converts a body to, as an
// error quotes it. Whatever the version on the wire, the package is named after
// the group. A real server converts no custom resources; for these it is the type
// of the version.
func (t Target) InternalType() string {
	if !t.Kind.native {
		return t.version() + "." + t.Kind.name
	}
	group, _, _ := strings.Cut(t.Kind.group, ".")
	return cmp.Or(group, "core") + "." + t.Kind.name
}

// unconvertible refuses a type that is known but is not the one expected. to is
// the Go type of that.
func unconvertible(t meta.TypeMeta, to string) error {
	version := versionOf(t)
	if isUnversioned(t.Kind) || isMetaOptions(t.Kind) || t.Kind == "DeleteOptions" || t.Kind == "WatchEvent" {
		version = "v1" // the package these types are in
	}
	return fmt.Errorf("converting (%s.%s) to (%s): unknown conversion", version, t.Kind, to)
}

// versionOf returns the version without the group.
func versionOf(t meta.TypeMeta) string {
	return t.APIVersion[strings.LastIndexByte(t.APIVersion, '/')+1:]
}
