package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/lease"
)

// How a term began and ended.
const (
	created  = "created"   // there was no Lease
	acquired = "acquired"  // the Lease had been released
	tookOver = "took over" // the Lease had expired
	expired  = "expired"
	released = "released"
	lasting  = "still leads"
)

// term is the time of one holder, by the times in the Lease.
type term struct {
	holder      string
	transitions int32
	began       string
	ended       string
	from        time.Time // acquireTime
	renewed     time.Time // the last renewTime
	until       time.Time // renewed plus leaseDurationSeconds, or the time of the release
	renewals    int
}

// appendState adds a state of the Lease to the terms.
func appendState(terms []term, l *lease.Lease) []term {
	spec := &l.Spec
	renewed := spec.RenewTime.Time
	var last *term
	if len(terms) > 0 {
		last = &terms[len(terms)-1]
	}
	switch {
	case *spec.HolderIdentity == "":
		last.ended, last.until = released, renewed
		return terms
	case last != nil && last.ended != released && last.holder == *spec.HolderIdentity:
		last.renewals++
	default:
		next := term{
			holder: *spec.HolderIdentity, transitions: *spec.LeaseTransitions,
			began: created, ended: lasting, from: spec.AcquireTime.Time,
		}
		if last != nil {
			next.began = acquired
			if last.ended != released {
				last.ended, next.began = expired, tookOver
			}
		}
		terms = append(terms, next)
		last = &terms[len(terms)-1]
	}
	last.renewed = renewed
	last.until = renewed.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
	return terms
}

// checkTerms returns an error for terms that overlap, and for terms that
// leaseTransitions does not count.
func checkTerms(terms []term) error {
	var errs []error
	for i := 1; i < len(terms); i++ {
		last, next := &terms[i-1], &terms[i]
		if next.from.Before(last.until) {
			errs = append(errs, fmt.Errorf("%s led from %s, %s before the term of %s was over",
				next.holder, clock(next.from), last.until.Sub(next.from), last.holder))
		}
		if next.transitions != last.transitions+1 {
			errs = append(errs, fmt.Errorf("leaseTransitions went from %d to %d", last.transitions, next.transitions))
		}
	}
	return errors.Join(errs...)
}
