// Package clock holds what a store takes its time from: Real, which is package
// time and what a store has by default; Func, for timestamps alone; and Manual,
// whose time passes only when a test says so.
//
//	m := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
//	st := store.New(store.Options{Clock: m})
//	...
//	m.FastForward(time.Hour)
//
// All that waits in this module waits by the clock of its store, so that a
// FastForward makes watches time out, bookmarks come, history grow old, Leases
// expire and Electors ping.
//
// # What FastForward cannot do
//
// It moves one clock. What another program or library waits by is not on it: the
// timers of client-go (the retries, resyncs and jitter of informers, the renewals
// of its electors, the timeouts of its requests), time.Sleep, a deadline of
// package context, and those of sockets stay real. A test of such code belongs
// into a testing/synctest bubble, where a store needs no clock at all: Real is
// virtual there, and so is everything else.
//
// # What has come to rest
//
// FastForward goes from one timer to the next, and before each step it waits for
// whoever the step before has woken, so that what they set next is in its turn. It
// returns when they have come to rest. That holds for the goroutines that this
// module keeps: the Contenders of package lease, the Electors of package
// candidate, watches up to the moment that they hand on their events, or with
// package apitest until these are sent, requests that were held back up to the
// beginning of their answer. It holds for whom those
// wake by what they write, too.
//
// It does not hold for what is beyond: a client that is sent an event, the loop of
// a caller who ranges over a watch. A test waits for these by what they do, such
// as an event that it receives; or they call Hold. So where a client has to answer
// in time, to ask for the next watch before this one's successor would end, a test
// steps: as far as the question, then on to the answer's consequences.
//
// This package knows nothing of objects, and does not sleep or poll.
package clock
