package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// referee checks that no two processes believe at once that they lead. The processes report to it. The zero value is ready.
type referee struct {
	// changed, if not nil, is called with the new leader after each change, "" if nobody leads. It must not call the referee.
	changed func(leader string)

	mu      sync.Mutex // guards all below
	current string
	errs    []error
}

// started reports that a process leads until ctx ends.
func (r *referee) started(ctx context.Context, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return // client-go calls this in a goroutine, so the term may be over
	}
	if r.current != "" {
		r.errs = append(r.errs, fmt.Errorf("%s: %s began to lead while %s did", time.Now().UTC().Format(time.DateTime), name, r.current))
	}
	r.setLocked(name)
}

// stopped reports that a process does not lead any more, if it did.
func (r *referee) stopped(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == name {
		r.setLocked("")
	}
}

func (r *referee) setLocked(leader string) {
	r.current = leader
	if r.changed != nil {
		r.changed(leader)
	}
}

// leader returns the leader, or "".
func (r *referee) leader() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// verdict returns an error if two led at once.
func (r *referee) verdict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.errs...)
}
