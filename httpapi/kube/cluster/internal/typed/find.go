package typed

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// KindOf returns the kind of a resource that an API serves, or nil.
func KindOf(a *httpapi.API, resource meta.GroupResource) kind.Kind {
	all := a.Kinds()
	if i := slices.IndexFunc(all, func(k kind.Kind) bool { return k.GroupResource() == resource }); i >= 0 {
		return all[i]
	}
	return nil
}

// ObjectsOf returns the objects of a resource in the store of an API, or nil if the API does not serve it.
func ObjectsOf(a *httpapi.API, resource meta.GroupResource) *store.Objects {
	k := KindOf(a, resource)
	if k == nil {
		return nil
	}
	objects, err := a.Store().Objects(k)
	if err != nil {
		return nil
	}
	return objects
}

// With adds to the context that the functions of kinds get from an API.
func With(opts *httpapi.Options, with func(context.Context) context.Context) {
	outer := opts.KindContext
	opts.KindContext = func(ctx context.Context) context.Context {
		if outer != nil {
			ctx = outer(ctx)
		}
		return with(ctx)
	}
}
