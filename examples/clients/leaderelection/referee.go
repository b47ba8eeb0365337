package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// referee hears from the electors themselves when they lead: no two may
// believe so at once.
type referee struct {
	// turns, unless it is nil, is sent who begins to lead.
	turns chan string

	mu     sync.Mutex // guards all below
	leader string     // "" is none
	reigns int
	fouls  []error
}

// started notes that an elector leads, while ctx lasts.
func (r *referee) started(ctx context.Context, identity string) {
	if r.begins(ctx, identity) && r.turns != nil {
		r.turns <- identity
	}
}

// begins reports whether an elector that has begun to lead still does.
func (r *referee) begins(ctx context.Context, identity string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return false // client-go calls this in a goroutine, and it was stopped meanwhile
	}
	if r.leader != "" {
		r.fouls = append(r.fouls, fmt.Errorf("%s began to lead while %s did", identity, r.leader))
	}
	r.leader = identity
	r.reigns++
	return true
}

// stopped notes that an elector does not lead any more, if it did.
func (r *referee) stopped(identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leader == identity {
		r.leader = ""
	}
}

// verdict returns an error if there was a foul.
func (r *referee) verdict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.fouls...)
}
