package clock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// The watch ends at its timeout.
func ExampleManual() {
	m := clock.NewManual(newYear)
	st := store.New(store.Options{Clock: m})
	defer st.Close()
	leases, ctx := lease.In(st), context.Background()
	if _, err := leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{}); err != nil {
		fmt.Println(err)
		return
	}

	names := make(chan string)
	go func() {
		defer close(names)
		for ev, err := range leases.Watch(ctx, store.WatchOptions{Timeout: time.Hour}) {
			if err != nil {
				fmt.Println(err)
				return
			}
			names <- ev.Object.Name
		}
	}()
	fmt.Println(<-names)
	m.FastForward(2 * time.Hour)
	_, open := <-names
	fmt.Println(open, m.Now().Sub(newYear))

	// Output:
	// a
	// false 2h0m0s
}

// Timestamps stand still, and timers are real.
func ExampleFunc() {
	st := store.New(store.Options{Clock: clock.Func(func() time.Time { return newYear })})
	defer st.Close()
	l, err := lease.In(st).Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.CreationTimestamp.Format(time.RFC3339))

	// Output:
	// 2026-01-01T00:00:00Z
}
