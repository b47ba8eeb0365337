package lease_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Two workers contend. The second one leads when the first one has finished.
func ExampleContender_Run() {
	leases := lease.In(store.New(store.Options{}))

	var workers sync.WaitGroup
	started := make(chan struct{})
	work := func(identity string, lead func(ctx context.Context, h lease.Holding)) {
		c, err := lease.NewContender(leases, lease.ContenderOptions{
			Namespace: "default", Name: "leader", Identity: identity, ReleaseOnCancel: true,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := c.Run(context.Background(), lead); err != nil {
			fmt.Println(err)
		}
	}
	workers.Go(func() {
		work("worker-1", func(ctx context.Context, h lease.Holding) {
			close(started)
			fmt.Println(h.Holder, "leads")
		})
	})
	<-started
	workers.Go(func() {
		work("worker-2", func(ctx context.Context, h lease.Holding) {
			fmt.Println(h.Holder, "leads")
		})
	})
	workers.Wait()

	// Output:
	// worker-1 leads
	// worker-2 leads
}

// The single steps are for a program with its own loop.
func ExampleContender_TryAcquire() {
	ctx := context.Background()
	leases := lease.In(store.New(store.Options{}))
	contender := func(identity string) *lease.Contender {
		c, err := lease.NewContender(leases, lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: identity})
		if err != nil {
			panic(err)
		}
		return c
	}
	one, two := contender("worker-1"), contender("worker-2")

	fmt.Println(one.TryAcquire(ctx))
	fmt.Println(two.TryAcquire(ctx))
	fmt.Println(one.Renew(ctx), one.Release(ctx))
	fmt.Println(two.TryAcquire(ctx))
	err := one.Renew(ctx)
	fmt.Println(errors.Is(err, lease.ErrLost), err)

	// Output:
	// true <nil>
	// false <nil>
	// <nil> <nil>
	// true <nil>
	// true lease: not held, or no longer held
}

// observedClient counts the updates of a Contender.
type observedClient struct {
	lease.Client
	updates int
}

func (c *observedClient) Update(ctx context.Context, l *lease.Lease, opts store.UpdateOptions) (*lease.Lease, error) {
	c.updates++
	return c.Client.Update(ctx, l, opts)
}

// A Client of one's own may sit between a Contender and the store.
func ExampleClient() {
	ctx := context.Background()
	client := &observedClient{Client: lease.In(store.New(store.Options{}))}
	c, err := lease.NewContender(client, lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: "worker-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.TryAcquire(ctx)) // creates the Lease
	fmt.Println(c.Renew(ctx), c.Release(ctx))
	fmt.Println(client.updates, "updates")

	// Output:
	// true <nil>
	// <nil> <nil>
	// 2 updates
}

// A program that waits for a rival without a Contender.
func ExampleObservation() {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := &lease.Lease{Spec: lease.LeaseSpec{
		HolderIdentity:       new("worker-1"),
		LeaseDurationSeconds: new(int32(15)),
		RenewTime:            new(meta.NewMicroTime(now.AddDate(-1, 0, 0))), // the holder's clock is wrong
	}}
	var o lease.Observation
	fmt.Println(o.Observe(l, now), o.Holder())
	fmt.Println(o.Observe(l, now.Add(10*time.Second)), o.Expired(now.Add(10*time.Second)))
	fmt.Println(o.Expires().Sub(now), o.Expired(now.Add(15*time.Second)))

	// Output:
	// true worker-1
	// false false
	// 15s true
}

// A test that checks the history of a Lease.
func ExampleAudit() {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	held := func(by string) *lease.Lease {
		return &lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: &by, LeaseDurationSeconds: new(int32(15))}}
	}
	var a lease.Audit
	a.See(held("worker-1"), start)
	if overlap, found := a.See(held("worker-2"), start.Add(5*time.Second)); found {
		fmt.Println(overlap)
	}

	// Output:
	// "worker-2" took the Lease at 2026-01-02T03:04:10Z, 10s before the Lease of "worker-1" ran out
}

func ExampleObserve() {
	leases := lease.In(store.New(store.Options{}))
	c, err := lease.NewContender(leases, lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: "worker-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	step := 0
	for h, err := range lease.Observe(context.Background(), leases, "default", "leader") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("held by %q\n", h.Holder)
		switch step++; step {
		case 1:
			c.TryAcquire(context.Background())
		case 2:
			c.Release(context.Background())
		case 3:
			return
		}
	}

	// Output:
	// held by ""
	// held by "worker-1"
	// held by ""
}

// register is a resource that leaders write to. It refuses late leaders.
type register struct {
	mu    sync.Mutex
	token uint64 // the greatest so far
	value string
}

func (r *register) write(token uint64, value string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token < r.token {
		return errors.New("fenced off")
	}
	r.token, r.value = token, value
	return nil
}

// The first leader was paused and does not know that it was replaced. Its writes
// are refused, because each one carries the number of its term.
func ExampleHolding_fencing() {
	leases := lease.In(store.New(store.Options{}))
	contender := func(identity string) *lease.Contender {
		c, err := lease.NewContender(leases, lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: identity})
		if err != nil {
			panic(err)
		}
		return c
	}
	one, two := contender("worker-1"), contender("worker-2")
	var r register

	one.TryAcquire(context.Background())
	old, _ := one.Held()
	fmt.Println(r.write(old.FencingToken, "by worker-1"))

	// An operator thinks that worker-1 is dead, and deletes the Lease.
	leases.Delete(context.Background(), "default", "leader", store.DeleteOptions{})
	two.TryAcquire(context.Background())
	h, _ := two.Held()
	fmt.Println(r.write(h.FencingToken, "by worker-2"))

	fmt.Println(r.write(old.FencingToken, "by worker-1, late"))
	fmt.Println(r.value)

	// Output:
	// <nil>
	// <nil>
	// fenced off
	// by worker-2
}

// If leaders work on an object of the same store, its resourceVersion fences.
func ExampleHolding_objects() {
	st := store.New(store.Options{})
	leases := lease.In(st)
	// The object is another Lease here. It may be of any kind.
	_, err := leases.Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "work"}}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// A leader calls claim when its term begins.
	claim := func(h lease.Holding) (*lease.Lease, error) {
		return leases.Modify(context.Background(), "default", "work", func(l *lease.Lease) error {
			term, _ := strconv.ParseUint(l.Annotations["example.com/term"], 10, 64)
			if term > h.FencingToken {
				return errors.New("fenced off")
			}
			l.Annotations = map[string]string{"example.com/term": fmt.Sprint(h.FencingToken)}
			return nil
		}, store.UpdateOptions{})
	}
	one := lease.Holding{Holder: "worker-1", FencingToken: 1001}
	late, _ := claim(one)
	work, _ := claim(lease.Holding{Holder: "worker-2", FencingToken: 1017})

	work.Spec.RenewTime = new(meta.NewMicroTime(time.Now()))
	_, err = leases.Update(context.Background(), work, store.UpdateOptions{})
	fmt.Println(err)
	_, err = leases.Update(context.Background(), late, store.UpdateOptions{})
	fmt.Println("conflict:", errors.Is(err, store.ErrConflict))
	_, err = claim(one)
	fmt.Println(err)

	// Output:
	// <nil>
	// conflict: true
	// fenced off
}
