package lease_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func Example() {
	leases := lease.In(store.New(store.Options{}))

	l, err := leases.Create(context.Background(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"},
		Spec: lease.LeaseSpec{
			HolderIdentity:       new("worker-1"),
			LeaseDurationSeconds: new(int32(15)),
			RenewTime:            new(meta.NewMicroTime(time.Now())),
		},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held by", *l.Spec.HolderIdentity)

	// The holder releases the Lease.
	l.Spec.HolderIdentity = new("")
	if _, err := leases.Update(context.Background(), l, store.UpdateOptions{}); err != nil {
		fmt.Println(err)
		return
	}

	// l still has the resourceVersion from before the update.
	_, err = leases.Update(context.Background(), l, store.UpdateOptions{})
	fmt.Println("conflict:", errors.Is(err, store.ErrConflict))

	// Output:
	// held by worker-1
	// conflict: true
}

// Two workers want the same Lease. Modify reads and writes in one step, so the
// second worker sees the write of the first one.
func ExampleIn() {
	leases := lease.In(store.New(store.Options{}))
	_, err := leases.Create(context.Background(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	errHeld := errors.New("held by another")
	acquire := func(worker string, now time.Time) error {
		_, err := leases.Modify(context.Background(), "default", "leader", func(l *lease.Lease) error {
			if renewed := l.Spec.RenewTime; renewed != nil && now.Before(renewed.Add(15*time.Second)) {
				return errHeld
			}
			l.Spec.HolderIdentity = new(worker)
			l.Spec.LeaseDurationSeconds = new(int32(15))
			l.Spec.RenewTime = new(meta.NewMicroTime(now))
			return nil
		}, store.UpdateOptions{})
		return err
	}
	start := time.Now()
	fmt.Println(acquire("worker-1", start))
	fmt.Println(acquire("worker-2", start))
	fmt.Println(acquire("worker-2", start.Add(time.Minute)))

	// Output:
	// <nil>
	// held by another
	// <nil>
}

func ExampleCoordinatedLeaseStrategy_Validate() {
	fmt.Println(lease.OldestEmulationVersion.Validate("strategy") == nil)
	fmt.Println(lease.CoordinatedLeaseStrategy("example.com/newest").Validate("strategy") == nil)
	fmt.Println(lease.CoordinatedLeaseStrategy("newest").Validate("strategy") == nil)

	// Output:
	// true
	// true
	// false
}
