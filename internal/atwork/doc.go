// Package atwork lets a manual clock wait until the goroutines that it woke are idle: see
// clock.Manual.Hold.
//
// A goroutine that waits in a loop has a Worker: it looks for work, then rests until it is
// woken. The goroutine that wakes it must call Wake first, so that the clock is held from
// the wake-up until the work is done. Real clocks have no Workers: New returns nil, and
// the methods of a nil Worker do nothing.
package atwork
