package main

import (
	"math"
	"net/http"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
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
	now, err := newClock(c)
	if err != nil {
		return served{}, err
	}
	of := store.Options{History: c.history, Clock: now}
	if c.debug {
		of.HistoryAge = math.MaxInt64 // for ever, and with its times
	}
	st := store.New(of)
	if err := loadState(st, c.load); err != nil {
		st.Close()
		return served{}, err
	}
	if c.debug {
		ws, err := newWorlds(st, of, apitest.Options{API: opts}, c.elect)
		if err != nil {
			return served{}, err
		}
		return served{ws, ws.Close, func() *store.Store { return ws.main.now.api.Store() }}, nil
	}
	if c.elect {
		if opts.Elector, err = candidate.NewElector(st, candidate.ElectorOptions{}); err != nil {
			st.Close()
			return served{}, err
		}
	}
	api := httpapi.New(st, opts)
	end := func() {
		api.Close()
		st.Close()
	}
	return served{api, end, func() *store.Store { return st }}, nil
}
