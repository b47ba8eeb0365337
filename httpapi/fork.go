package httpapi

import (
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

// Fork returns an API of the same kinds over another store, such as a fork of the
// store behind this one. The result is the same as that of New, at a fraction of
// the cost, because both share all that depends on the kinds alone. Fork ignores
// opts.Kinds. The two APIs are otherwise independent: the caller must close both.
func (a *API) Fork(st *store.Store, opts Options) *API {
	f := &API{
		st: (*registry.Store)(st), status: a.status, lists: a.lists, scheme: a.scheme,
		kinds: a.kinds, openAPI: a.openAPI,
	}
	f.groups = groupsIn(f.st, a.groups)
	f.start(opts)
	return f
}

// groupsIn returns the same groups for the resources of another store.
func groupsIn(st *registry.Store, groups []*apiGroup) []*apiGroup {
	var from, to *registry.Resource // versions of one kind follow each other, mostly
	out := make([]*apiGroup, len(groups))
	for i, g := range groups {
		group := *g
		group.versions = make([]*groupVersion, len(g.versions))
		for j, v := range g.versions {
			version := *v
			version.endpoints = make([]*endpoint, len(v.endpoints))
			all := make([]endpoint, len(v.endpoints))
			for k, e := range v.endpoints {
				if e.res != from {
					from, to = e.res, e.res.In(st)
				}
				all[k] = *e
				all[k].res = to
				version.endpoints[k] = &all[k]
			}
			group.versions[j] = &version
		}
		out[i] = &group
	}
	return out
}
