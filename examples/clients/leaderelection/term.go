package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/lease"
)

// How a term began and ended.
const (
	created  = "created"   // the Lease was not there
	acquired = "acquired"  // the Lease had been released
	tookOver = "took over" // the Lease had expired
	expired  = "expired"
	released = "released"
	lasting  = "still leads"
)

// term is the time that one holder led for, by the Lease's own clock.
type term struct {
	holder      string
	transitions int32
	began       string
	ended       string
	from        time.Time // acquireTime
	renewed     time.Time // the last renewTime
	until       time.Time // renewed and leaseDurationSeconds, or when it was released
	renewals    int
}

// appendState adds a state of the Lease to the terms that the states before it
// made up.
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

// checkTerms returns an error for each two terms that overlap, and for each
// that was not counted in leaseTransitions.
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
