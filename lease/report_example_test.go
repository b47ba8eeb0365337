package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// network is a Client whose requests fail while it is down.
type network struct {
	lease.Client
	down atomic.Bool
}

// errNetwork is a temporary error.
type errNetwork struct{ error }

func (errNetwork) Temporary() bool { return true }

func (n *network) Get(ctx context.Context, namespace, name string) (*lease.Lease, error) {
	if n.down.Load() {
		return nil, errNetwork{errors.New("no route to host")}
	}
	return n.Client.Get(ctx, namespace, name)
}

func (n *network) Update(ctx context.Context, l *lease.Lease, opts store.UpdateOptions) (*lease.Lease, error) {
	if n.down.Load() {
		return nil, errNetwork{errors.New("no route to host")}
	}
	return n.Client.Update(ctx, l, opts)
}

// hurried is a clock whose timers fire a thousand times earlier, so that the example is short.
type hurried struct{ clock.Real }

func (h hurried) AfterFunc(d time.Duration, f func()) clock.Timer {
	return h.Real.AfterFunc(d/1000, f)
}

// The server is gone at first.
func ExampleContenderOptions() {
	client := &network{Client: lease.In(store.New(store.Options{Clock: hurried{}}))}
	client.down.Store(true)
	c, err := lease.NewContender(client, lease.ContenderOptions{
		Namespace: "default", Name: "leader", Identity: "worker-1", ReleaseOnCancel: true,
		LeaseDuration: time.Hour, RenewDeadline: 50 * time.Minute,
		OnNewLeader: func(h lease.Holding) { fmt.Printf("leader: %q\n", h.Holder) },
		OnContact: func(err error) {
			fmt.Println("contact:", err)
			client.down.Store(false)
		},
		Logger: slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Run(context.Background(), func(context.Context, lease.Holding) {}))

	// Output:
	// level=WARN msg="lease: no contact, trying again" error="no route to host" lease=default/leader identity=worker-1
	// contact: no route to host
	// level=INFO msg="lease: new leader" holder=worker-1 lease=default/leader identity=worker-1
	// leader: "worker-1"
	// level=INFO msg="lease: contact again" lease=default/leader identity=worker-1
	// contact: <nil>
	// level=INFO msg="lease: released" lease=default/leader identity=worker-1
	// leader: ""
	// <nil>
}

// withoutTime leaves the time out of a line of a log.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// A leader that does not stop is unhealthy. With package httpapi the check is
// httpapi.HealthCheck{Name: "leaderElection", Healthy: c.Healthy}.
func ExampleContender_Healthy() {
	m := clock.NewManual(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	client := &network{Client: lease.In(store.New(store.Options{Clock: m}))}
	c, err := lease.NewContender(client, lease.ContenderOptions{
		Namespace: "default", Name: "leader", Identity: "worker-1", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Run(context.Background(), func(ctx context.Context, _ lease.Holding) {
		fmt.Println(ctx.Err(), c.Healthy(ctx))
		client.down.Store(true)
		m.FastForward(time.Minute)
		fmt.Println(ctx.Err(), c.Healthy(ctx))
	})
	fmt.Println(c.Healthy(context.Background()))

	// Output:
	// <nil> <nil>
	// context canceled lease: "worker-1" still leads 45s after its lease default/leader has expired
	// <nil>
}
