// Package atwork tells a clock that is moved by hand who has not come to rest yet,
// so that it waits for them: see clock.Manual.Hold.
//
// Who waits has a Worker, in the usual loop: look what there is to do, then rest
// until woken. Whoever wakes it says so first, so that between the one who had the
// reason and the one who acts on it there is no moment at which nobody holds the
// clock. On clocks that move by themselves there are no Workers: New returns nil,
// whose methods do nothing at no cost.
package atwork
