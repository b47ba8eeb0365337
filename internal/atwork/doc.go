// Package atwork lets a manual clock wait until the goroutines that it woke are idle: see
// clock.Manual.Hold.
//
// A goroutine that waits in a loop has a Worker: it looks for work, then rests until it is
// woken. Whoever wakes it calls Wake first, so at no moment between cause and effect is the
// clock free. Clocks that move by themselves have no Workers: New returns nil, and the
// methods of a nil Worker do nothing.
package atwork
