package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// referee checks that no two electors believe at once that they lead. The electors
// report to it. The zero value is ready.
type referee struct {
	mu     sync.Mutex // guards all below
	leader string     // "" is none
	terms  int
	fouls  []error
}

// started reports that an elector leads until ctx ends.
func (r *referee) started(ctx context.Context, identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return // client-go calls this in a goroutine, so the term may be over
	}
	if r.leader != "" {
		r.fouls = append(r.fouls, fmt.Errorf("%s began to lead while %s did", identity, r.leader))
	}
	r.leader = identity
	r.terms++
}

// stopped reports that an elector does not lead any more, if it did.
func (r *referee) stopped(identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leader == identity {
		r.leader = ""
	}
}

// verdict returns an error if two led at once.
func (r *referee) verdict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.fouls...)
}
