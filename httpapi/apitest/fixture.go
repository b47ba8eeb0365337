package apitest

import (
	"strings"

	"github.com/kubecoord/kubecoord/store/fixture"
)

// Load stores objects of the kinds that are served, all of them or none; the
// watches that are open are told. What is wrong with one fails the test, with the
// file, the document and what was expected.
func (a *API) Load(sources ...fixture.Source) {
	a.t.Helper()
	if err := a.load(sources); err != nil {
		a.t.Fatalf("apitest.Load: %v", err)
	}
}

func (a *API) load(sources []fixture.Source) error {
	return fixture.Load(a.Store(), fixture.Options{Kinds: a.served}, sources...)
}

// Dump returns the state of the store in the form that Load reads. The same
// state is always the same text. Without Kinds in the options all that are served
// are in it.
func (a *API) Dump(opts fixture.DumpOptions) string {
	a.t.Helper()
	if opts.Kinds == nil {
		opts.Kinds = a.served
	}
	var b strings.Builder
	if err := fixture.Dump(&b, a.Store(), opts); err != nil {
		a.t.Fatalf("apitest.Dump: %v", err)
	}
	return b.String()
}
