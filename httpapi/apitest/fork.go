package apitest

import (
	"fmt"
	"testing"
)

// Fork returns an API of the same Options whose world is a clone of this one's:
// all objects, the version that is next, and the history, so that lists, continue
// tokens and watches go on from versions before the fork. From here on neither
// sees what is written to the other. It ends with the test that it is given, which
// may be another one than that of its parent:
//
//	fixture := apitest.New(t, apitest.Options{Fixtures: ...}) // costly, made once
//	for _, row := range rows {
//		t.Run(row.name, func(t *testing.T) {
//			t.Parallel()
//			api := fixture.Fork(t)
//			...
//		})
//	}
//
// It takes a few microseconds however much there is in the store, may be called
// from any goroutine while others write, and may be called on a fork. A fork may
// also be made inside a testing/synctest bubble of something that was made outside
// of it; mind that time in there begins in the year 2000. Verify takes that into
// account: for it, time goes on at the moment of the fork.
//
// Faults, requests and sockets are not cloned: the fork starts without. The
// functions in the Options are called for both worlds. Options.Elector is called
// for the store of the fork; an Elector in Options.API is one of another store,
// and stays with the parent. A clock that is moved by hand is cloned: each world
// has its own FastForward.
//
// Where the test of the parent has ended, it fails the test.
func (a *API) Fork(t testing.TB) *API {
	t.Helper()
	f, err := a.fork(t)
	if err != nil {
		t.Fatalf("apitest.Fork: %v", err)
	}
	f.endWith(t)
	return f
}

// OpenFork is Fork without a test, as Open is New without one: the fork lasts
// until Close. The error is store.ErrClosed where the parent has ended.
func (a *API) OpenFork() (*API, error) {
	f, err := a.fork(&noTest{})
	if err != nil {
		return nil, fmt.Errorf("apitest.OpenFork: %w", err)
	}
	return f, nil
}

func (a *API) fork(t testing.TB) (*API, error) {
	st, err := a.st.Fork()
	if err != nil {
		return nil, fmt.Errorf("%s has ended: got a call for a fork, want it before the end: %w", a.t.Name(), err)
	}
	f := over(t, st, a.opts)
	f.opts.API.Elector = nil
	f.kinds, f.served = a.kinds, a.served
	opts, err := f.apiOptions()
	if err != nil {
		st.Close()
		return nil, err
	}
	f.api = a.api.Fork(f.Store(), opts)
	return f, nil
}
