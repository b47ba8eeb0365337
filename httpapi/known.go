package httpapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

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

// known returns a type as one that is served, where a real server has it under
// another version too: Leases of v1beta1 can be read, though they have not been
// served since 1.22. They have the members of v1.
func known(t meta.TypeMeta) meta.TypeMeta {
	if t == (meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1beta1"}) {
		t.APIVersion = "coordination.k8s.io/v1"
	}
	return t
}

// knows reports whether a kind that is not served belongs to the version: the
// lists of those that are, the options of the verbs, and the other kinds of the
// core group.
func (v *groupVersion) knows(kind string) bool {
	switch kind {
	case "WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions":
		return true
	}
	for _, e := range v.endpoints {
		if kind == e.info.Kind+"List" {
			return true
		}
	}
	switch v.String() {
	case "v1":
		return kind == "List" || slices.Contains(coreKinds(), strings.TrimSuffix(kind, "List"))
	case "coordination.k8s.io/v1beta1":
		return kind == "LeaseList"
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

// internalType returns the Go type that a real server converts a body to, as an
// error quotes it. Whatever the version on the wire, the package is named after
// the group. A real server converts no custom resources; for these it is the type
// of the version.
func (e *endpoint) internalType() string {
	if !e.info.Native {
		return e.gv.Version + "." + e.info.Kind
	}
	group, _, _ := strings.Cut(e.gv.Group, ".")
	return cmp.Or(group, "core") + "." + e.info.Kind
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
