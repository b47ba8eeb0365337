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

// One of two workers leads. When it has done its work the other one follows.
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

// A loop of one's own needs the single steps.
func ExampleContender_TryAcquire() {
	leases := lease.In(store.New(store.Options{}))
	contender := func(identity string) *lease.Contender {
		c, err := lease.NewContender(leases, lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: identity})
		if err != nil {
			panic(err)
		}
		return c
	}
	one, two := contender("worker-1"), contender("worker-2")

	fmt.Println(one.TryAcquire(context.Background()))
	fmt.Println(two.TryAcquire(context.Background()))
	fmt.Println(one.Renew(context.Background()), one.Release(context.Background()))
	fmt.Println(two.TryAcquire(context.Background()))
	fmt.Println(one.Renew(context.

		// Output:
		// true <nil>
		// false <nil>
		// <nil> <nil>
		// true <nil>
		// lease: not held, or no longer
		Background()))

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

// register is something that leaders write to. It refuses whoever is late.
type register struct {
	mu    sync.Mutex
	fence uint64 // the greatest it has seen
	value string
}

func (r *register) write(fence uint64, value string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fence < r.fence {
		return errors.New("fenced off")
	}
	r.fence, r.value = fence, value
	return nil
}

// The leader of before was paused, and does not know that it was replaced. What
// it writes is refused, since each write names the term it belongs to.
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
	fmt.Println(r.write(old.ResourceVersion, "by worker-1"))

	// Somebody thinks that worker-1 is dead, and deletes the Lease.
	leases.Delete(context.Background(), "default", "leader", store.DeleteOptions{})
	two.TryAcquire(context.Background())
	h, _ := two.Held()
	fmt.Println(r.write(h.ResourceVersion, "by worker-2"))

	fmt.Println(r.write(old.ResourceVersion, "by worker-1, late"))
	fmt.Println(r.value)

	// Output:
	// <nil>
	// <nil>
	// fenced off
	// by worker-2
}

// Where leaders work on an object of the same store its resourceVersion fences.
func ExampleHolding_objects() {
	st := store.New(store.Options{})
	leases := lease.In(st)
	// What is worked on is another Lease here; it may be of any kind.
	_, err := leases.Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "work"}}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// claim is the first thing that a leader does.
	claim := func(h lease.Holding) (*lease.Lease, error) {
		return leases.Modify(context.Background(), "default", "work", func(l *lease.Lease) error {
			term, _ := strconv.ParseUint(l.Annotations["example.com/term"], 10, 64)
			if term > h.ResourceVersion {
				return errors.New("fenced off")
			}
			l.Annotations = map[string]string{"example.com/term": fmt.Sprint(h.ResourceVersion)}
			return nil
		}, store.UpdateOptions{})
	}
	one := lease.Holding{Holder: "worker-1", ResourceVersion: 1001}
	late, _ := claim(one)
	work, _ := claim(lease.Holding{Holder: "worker-2", ResourceVersion: 1017})

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
