package kinds

import (
	"context"
	"slices"
	"sync"

	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// alias returns the kind in another group. It shares all that is compiled, so the items of a collection serve both.
func (k *Kind) alias(of *kind.Alias[Object], version int) *Kind {
	a := &Kind{
		of: k.of, native: k.native, info: k.info, versions: k.versions, forms: k.forms, managers: new(*k.managers), subresources: k.subresources, jsonOnly: k.jsonOnly,
		origin: k, own: version,
	}
	a.shape = a.compileShape()
	a.managers.Foreign = func(other int) bool { return other != version }
	a.of.SelectableFields = of.SelectableFields
	a.native.MetadataLast = false // upstream: ValidateEventCreate
	if a.of.Strategy.ValidateName = of.ValidateName; of.ValidateName == nil {
		a.of.Strategy.ValidateName = validate.NameIsDNSSubdomain
	}
	a.info.Group, a.info.Versions = of.Group, slices.Clone(k.info.Versions)
	for i := range a.info.Versions {
		a.info.Versions[i].Unserved = i != version
	}
	a.info.SelectableFields = slices.Clone(k.info.SelectableFields[:len(k.info.SelectableFields)-len(k.of.SelectableFields)])
	for _, f := range of.SelectableFields {
		a.info.SelectableFields = append(a.info.SelectableFields, f.Path)
	}
	a.endpoints = sync.OnceValue(a.makeEndpoints)
	return a
}

// Aliases returns the kind in its other groups. They must not be changed.
func (k *Kind) Aliases() []*Kind { return k.aliases }

// Origin returns the kind whose objects an alias has, and any other kind itself.
func (k *Kind) Origin() *Kind {
	if k.origin != nil {
		return k.origin
	}
	return k
}

// OwnVersion returns the index of the version that the Go API and clients see: the version of an alias, else the stored version.
func (k *Kind) OwnVersion() int { return k.own }

// Given returns an object of a caller, a pointer to a struct, as the packages of this module take it. It panics unless the object has
// the Go type of the version that OwnVersion returns.
func (k *Kind) Given(obj any) Object { return k.given(obj, k.own) }

func (k *Kind) given(obj any, version int) Object {
	if o, ok := obj.(Object); ok {
		return o
	}
	return k.form(version).typ.Box(obj)
}

// Shown returns an object in the stored form, which the caller owns, as the Go API shows it.
func (k *Kind) Shown(o Object) Object {
	if k.own == 0 {
		return o
	}
	o, err := k.Convert(context.Background(), o, 0, k.own, kind.Remembered)
	if err != nil {
		panic(err) // cannot be: both forms are Go types
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	return o
}
