package kinds

import "github.com/kubecoord/kubecoord/store/kind"

// Of returns what is behind a kind of the public packages.
func Of(k kind.Kind) *Kind { return k.Untyped().(*Kind) }

// Untyped implements kind.Kind.
func (k *Kind) Untyped() kind.Kind { return k }

// Groups implements kind.Kind.
func (k *Kind) Groups() []kind.Kind {
	groups := []kind.Kind{k.Origin()}
	for _, a := range k.Origin().aliases {
		groups = append(groups, a)
	}
	return groups
}
