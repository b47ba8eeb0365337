package electiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Referee hears from the contenders themselves when they lead: no two may
// believe so at once. The zero value is ready.
type Referee struct {
	// Heard, if not nil, is called after each change with who leads, "" for
	// nobody. It must not call the Referee.
	Heard func(leader string)

	mu     sync.Mutex // guards all below
	leader string
	reigns []string
	fouls  []error
}

// Started notes that a contender leads, while ctx lasts.
func (r *Referee) Started(ctx context.Context, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return // client-go calls this in a goroutine, and it was stopped meanwhile
	}
	if r.leader != "" {
		r.fouls = append(r.fouls, fmt.Errorf("%s: %s began to lead while %s did", time.Now().UTC().Format(time.DateTime), name, r.leader))
	}
	r.leader = name
	r.reigns = append(r.reigns, name)
	if r.Heard != nil {
		r.Heard(name)
	}
}

// Stopped notes that a contender does not lead any more, if it did.
func (r *Referee) Stopped(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leader != name {
		return
	}
	r.leader = ""
	if r.Heard != nil {
		r.Heard("")
	}
}

// Leader returns who leads, "" for nobody.
func (r *Referee) Leader() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leader
}

// Reigns returns who has led, in order.
func (r *Referee) Reigns() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.reigns...)
}

// Verdict returns an error if two led at once.
func (r *Referee) Verdict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.fouls...)
}
