package main

import (
	"fmt"
	"net/http"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// served is what the server serves: an API, or with -debug worlds.
type served struct {
	http.Handler
	// close ends the watches and all that waits. The store can still be read.
	// Closing twice is fine.
	close func()
	store func() *store.Store
}

func newServed(c config, tokens map[string]httpapi.User) (served, error) {
	opts := httpapi.Options{}
	if c.verbose {
		opts.Log = logRequest
	}
	if tokens != nil {
		opts.Authenticate = httpapi.BearerTokens(tokens)
	}
	if c.debug {
		return newDebugged(c, opts)
	}
	return newPlain(c, opts)
}

// newPlain serves one API.
func newPlain(c config, opts httpapi.Options) (served, error) {
	st := store.New(store.Options{History: c.history})
	err := loadState(st, c.load)
	if err == nil && c.elect {
		opts.Elector, err = candidate.NewElector(st, candidate.ElectorOptions{})
	}
	if err != nil {
		st.Close()
		return served{}, err
	}
	api := httpapi.New(st, opts)
	end := func() {
		api.Close()
		st.Close()
	}
	return served{api, end, func() *store.Store { return st }}, nil
}

// newDebugged serves worlds.
func newDebugged(c config, opts httpapi.Options) (served, error) {
	all := apitest.Options{Store: store.Options{History: c.history}, API: opts}
	if c.load != "" {
		all.Fixtures = []fixture.Source{fixture.Dir(c.load)}
	}
	ws, err := newWorlds(all, c.elect)
	if err != nil {
		if c.load != "" {
			err = fmt.Errorf("-load: %w", err)
		}
		return served{}, err
	}
	return served{ws, ws.Close, func() *store.Store { return ws.main.now.api.Store() }}, nil
}
