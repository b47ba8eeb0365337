package registry

import (
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file reads the objects of kinds that are not stored, such as ComponentStatuses. A real server makes them for each read, and
// knows no versions and no pages of them (upstream: registry/core/componentstatus).

// getMade returns the object of a name.
func (r *Resource) getMade(objects []kinds.Object, k key) (*Item, error) {
	for _, o := range objects {
		if it := newItem(r.Kind, o, 0); it.key() == k {
			return it, nil
		}
	}
	return nil, meta.NewNotFound(meta.GroupResource{Group: r.Info().Group, Resource: r.Info().Singular}, k.name)
}

// listMade returns the objects that the options select.
func (r *Resource) listMade(objects []kinds.Object, opts ListOptions) (*List, error) {
	sel, err := r.parseSelection(&opts, false)
	if err != nil {
		return nil, err
	}
	l := &List{Items: []*Item{}, page: &page{}, kind: r.Kind, made: true}
	for _, o := range objects {
		if it := newItem(r.Kind, o, 0); sel.matches(it) {
			l.Items = append(l.Items, it)
		}
	}
	return l, nil
}
