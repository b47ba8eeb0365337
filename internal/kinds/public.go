package kinds

import (
	"github.com/kubecoord/kubecoord/store/kind"
)

// Of returns what is behind a kind of the public packages.
func Of(k kind.Kind) *Kind { return k.Untyped().(*Kind) }

// Untyped implements kind.Kind.
func (k *Kind) Untyped() kind.Kind { return k }

// InternalType implements kind.Kind.
func (k *Kind) InternalType(version int) string { return Target{k, version}.InternalType() }

// Object implements kind.Kind.
func (k *Kind) Object(value any, version int) Object {
	return k.form(version).typ.Copy(k.given(value, version)).(Object)
}

// FromTree implements kind.Kind.
func (k *Kind) FromTree(tree map[string]any, version int) (Object, []error, error) {
	return k.ReadPatched(version, tree, true)
}

// DefaultTree implements kind.Kind.
func (k *Kind) DefaultTree(tree map[string]any, version int) (map[string]any, error) {
	typ, o := k.form(version).typ, k.New(version)
	if _, err := typ.FromUnstructured(tree, o, false); err != nil {
		return nil, err
	}
	typ.Default(o)
	return k.Tree(o, version), nil
}

// Groups implements kind.Kind.
func (k *Kind) Groups() []kind.Kind {
	groups := []kind.Kind{k.Origin()}
	for _, a := range k.Origin().aliases {
		groups = append(groups, a)
	}
	return groups
}
