// Package clock holds the clocks of a store: Real, which is package time and the default;
// Func, which only gives timestamps; and Manual, which tests move by hand.
//
//	m := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
//	st := store.New(store.Options{Clock: m})
//	...
//	m.FastForward(time.Hour)
//
// All timers of this module use the clock of its store. So a FastForward makes watches time
// out, sends bookmarks, ages the history, lets Leases expire and makes Electors ping.
//
// # Other timers
//
// FastForward moves one clock. Other timers stay real: those of client-go (retries, resyncs
// and jitter of informers, renewals of its electors, timeouts of requests), time.Sleep,
// deadlines of package context, and sockets. Test such code in a testing/synctest bubble.
// There a store needs no Clock: Real is virtual, and so are all other timers.
//
// # What FastForward waits for
//
// FastForward goes from one timer to the next. Before each step it waits until the goroutines
// that the last step woke are idle, so that the timers they set are in order. This covers the
// goroutines of this module: the Contenders of package lease, the Electors of package
// candidate, watches until they hand over their events (with package apitest: until these
// are sent), delayed requests until the start of their answer, and all goroutines of this
// module that the writes of these wake.
//
// It does not cover the goroutines of others: a client that receives an event, or the body of
// a loop over a watch. A test must wait for what they do, such as a write, or they must call
// Hold. If a client has to answer before a later timer, move the clock in two steps.
package clock
