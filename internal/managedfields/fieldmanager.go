package managedfields

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/scratch"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Object is an object whose fields have owners.
type Object = meta.Object

// FieldManager computes the managedFields of the objects of a kind. It must not be changed after its first
// use, and may then be used from any goroutine.
type FieldManager struct {
	// Name is the kind in CamelCase, such as "Lease".
	Name string
	// Versions are all versions of the kind. Methods take a version as its index.
	Versions []Version
	// Convert returns an object of one version in the form of another version. It may change kind and apiVersion of its argument, and
	// share memory with it. Nil means that all versions have the same form.
	Convert func(o Object, from, to int) (Object, error)
	// Custom kinds are custom resources. As upstream, an owner in a version that such a kind does not have makes an apply
	// fail and an update remove all owners (apiextensions-apiserver, conversion). For other kinds such an owner is dropped.
	Custom bool
	// Foreign reports whether a version is in another group of the kind, as of Event. Owners in it are dropped, as upstream. Nil: none is.
	Foreign func(version int) bool
	// Unconvertible makes each apply fail that changes an object: the bodies are of another kind than the custom resource, and upstream
	// converts the merged body like a custom resource (apiextensions-apiserver, conversion).
	Unconvertible bool
	// Subresource is the subresource that is written, such as "status", or "" for
	// the object itself. Its managers are separate from the object's.
	Subresource string
	// Reset are the members that writes of the subresource or object never change,
	// and members of these, such as "metadata.labels". They have no owners.
	Reset []string
	// Without are the versions without the Subresource, in which Reset does not apply (upstream: apiextensions-apiserver,
	// getStatusResetFields).
	Without []string
}

// Version is one version of a kind.
type Version struct {
	// APIVersion is "group/version", or just "version" for the core group.
	APIVersion string
	// Type is the schema of the form that objects have in this version.
	Type *codec.Type

	parsed   [64]atomic.Pointer[parsedSet] // by their text
	outlined [16]atomic.Pointer[outlined]  // by their outline
	scratch  scratch.Pool                  // for outlines
}

func (k *FieldManager) empty(version int) Object {
	return k.Versions[version].Type.New().(Object)
}

func (v *Version) zero() codec.Value { return v.Type.ZeroValue() }

func (k *FieldManager) schema(version int) schema { return schema{typ: k.Versions[version].Type} }

// changeable returns a set of fields without the fields that a write cannot change.
// apiVersion is the version of the set, writer the version of the write. As
// upstream, Reset applies to a write of the object itself only if the two versions
// are equal.
func (k *FieldManager) changeable(fields *set, apiVersion, writer string) *set {
	if len(k.Reset) == 0 || k.Subresource == "" && apiVersion != writer || slices.Contains(k.Without, apiVersion) {
		return fields
	}
	return k.withoutReset(fields, nil)
}

// withoutReset returns a set of fields below path without those that Reset has.
func (k *FieldManager) withoutReset(fields *set, path []string) *set {
	return fields.mapNodes(func(n node) node {
		switch {
		case k.resets(path, n.step.name):
			return node{}
		case len(path) == 0:
			n.sub = k.withoutReset(n.sub, []string{n.step.name})
		}
		return n
	})
}

// resets reports whether Reset has the member name below path.
func (k *FieldManager) resets(path []string, name string) bool {
	switch len(path) {
	case 0:
		return slices.Contains(k.Reset, name)
	case 1:
		return slices.ContainsFunc(k.Reset, func(r string) bool {
			above, below, nested := strings.Cut(r, ".")
			return nested && above == path[0] && below == name
		})
	}
	return false
}

// typeText returns the name of a version of the kind for error texts.
func (k *FieldManager) typeText(version int) string {
	return typeText(k.Versions[version].APIVersion, k.Name)
}

// typeText returns "group/version, Kind=kind". The name of the core group is empty,
// so its texts begin with the slash.
func typeText(apiVersion, kind string) string {
	gv, ok := meta.ParseGroupVersion(apiVersion)
	if !ok {
		gv, kind = meta.GroupVersion{}, ""
	}
	return fmt.Sprintf("%s/%s, Kind=%s", gv.Group, gv.Version, kind)
}

// errNoVersion reports that a kind that is not Custom does not have a version. Owners in
// that version are dropped.
var errNoVersion = errors.New("managedfields: no such version")

// version returns the index of an API version.
func (k *FieldManager) version(apiVersion string) (int, error) {
	for i := range k.Versions {
		if k.Versions[i].APIVersion == apiVersion {
			if k.Foreign != nil && k.Foreign(i) {
				return 0, errNoVersion
			}
			return i, nil
		}
	}
	gv, ok := meta.ParseGroupVersion(apiVersion)
	if !ok {
		return 0, fmt.Errorf("unexpected GroupVersion string: %v", apiVersion)
	}
	for i := range k.Versions {
		if have, _ := meta.ParseGroupVersion(k.Versions[i].APIVersion); have == gv {
			return i, nil
		}
	}
	if k.Custom {
		return 0, invalidVersion(apiVersion)
	}
	return 0, errNoVersion
}

// invalidVersion is the error for an object in a version that a custom resource does not have.
func invalidVersion(apiVersion string) error {
	return fmt.Errorf("request to convert CR to an invalid group/version: %s", apiVersion)
}
