package registry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// bell wakes a watch at a time and at the end of a context, as a change does.
type bell struct {
	clock  clock.Clock
	ring   func()
	alarm  clock.Timer // nil until it is set
	due    time.Time   // when the alarm rings
	rang   atomic.Bool
	done   <-chan struct{} // of the context
	unbind func() bool     // separates the bell from the context
}

// set makes the bell ring at a time. The zero time leaves it as it is: a watch that is woken too often only looks for events.
func (b *bell) set(at time.Time) {
	if at.IsZero() || at.Equal(b.due) && !b.rang.Load() {
		return
	}
	b.due = at
	b.rang.Store(false)
	left := at.Sub(b.clock.Now())
	if b.alarm != nil {
		b.alarm.Reset(left)
		return
	}
	b.alarm = b.clock.AfterFunc(left, func() {
		b.rang.Store(true)
		b.ring()
	})
}

// bind makes the end of a context ring.
func (b *bell) bind(ctx context.Context) {
	if done := ctx.Done(); done != b.done {
		b.release()
		b.done = done
		b.unbind = context.AfterFunc(ctx, b.ring)
	}
}

func (b *bell) release() {
	if b.unbind != nil {
		b.unbind()
	}
}

// stop ends what would ring.
func (b *bell) stop() {
	b.release()
	if b.alarm != nil {
		b.alarm.Stop()
	}
}
