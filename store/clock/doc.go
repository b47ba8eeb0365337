// Package clock has the clocks of a store: Real, which is package time and the default;
// Func, which only gives timestamps; and Manual, which a test moves.
//
//	m := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
//	st := store.New(store.Options{Clock: m})
//	...
//	m.FastForward(time.Hour)
//
// All timers of this module use the clock of their store. So a FastForward makes watches time
// out, sends bookmarks, ages the history, lets Leases expire and makes Coordinators ping.
//
// # What FastForward does not do
//
// FastForward sets the time and fires the timers that are due. It does not wait until the goroutines that these
// timers wake have done their work. They find the new time, as after a pause of the machine: a leader that renews
// each two seconds loses its Lease in FastForward(time.Minute). A test waits for the outcome, such as the end of a
// watch, and moves the clock in steps if something has to happen between two times.
//
// FastForward moves one clock. Other timers stay real: the timers of client-go (retries, resyncs and jitter of informers,
// renewals of its electors, timeouts of requests), time.Sleep, deadlines of package context, and sockets.
//
// # Waiting in Go tests
//
// A Go test that has to wait for timers runs in a testing/synctest bubble. There a store needs no Clock: Real is
// virtual, and so are all other timers. time.Sleep lets everything that is due happen in its order, each at its time,
// and synctest.Wait returns when all goroutines of the bubble wait. A Manual is for clients outside of the bubble's
// reach: over sockets, or in other languages.
package clock
