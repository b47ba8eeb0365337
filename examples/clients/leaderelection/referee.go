package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// referee checks that no two electors believe at once that they lead. The electors
// report to it.
type referee struct {
	// turns, if not nil, receives each new leader.
	turns chan string

	mu     sync.Mutex // guards all below
	leader string     // "" is none
	reigns int
	fouls  []error
}

// started reports that an elector leads until ctx ends.
func (r *referee) started(ctx context.Context, identity string) {
	if r.begins(ctx, identity) && r.turns != nil {
		r.turns <- identity
	}
}

// begins records the leader, and reports false if its term is already over.
func (r *referee) begins(ctx context.Context, identity string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return false // client-go calls this in a goroutine, so the term may be over
	}
	if r.leader != "" {
		r.fouls = append(r.fouls, fmt.Errorf("%s began to lead while %s did", identity, r.leader))
	}
	r.leader = identity
	r.reigns++
	return true
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
