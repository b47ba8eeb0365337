package httpapi

import (
	"io"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// Load stores objects of the kinds that are served, all of them or none; see
// package store/fixture. The watches that are open are told.
func (a *API) Load(sources ...fixture.Source) error {
	return fixture.Load((*store.Store)(a.st), fixture.Options{Kinds: a.kinds}, sources...)
}

// Dump writes the objects of all kinds that are served, so that Load stores them
// again in another API; see package store/fixture. Kinds in opts stand in place of
// those.
func (a *API) Dump(w io.Writer, opts fixture.DumpOptions) error {
	if opts.Kinds == nil {
		opts.Kinds = a.kinds
	}
	return fixture.Dump(w, (*store.Store)(a.st), opts)
}
