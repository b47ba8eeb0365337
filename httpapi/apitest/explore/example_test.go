package explore_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// A controller that gives each Lease an Endpoints of its name, and deletes it with the Lease. Nothing that goes wrong makes
// it leave one behind.
func TestMirror(t *testing.T) {
	explore.Run(t, explore.Scenario{
		API:         apitest.New(t),
		Controllers: []explore.Controller{{Name: "mirror", Run: mirror}},
		Steps:       comeAndGo(),
	}, explore.Options{Budget: 10 * time.Second})
}

// comeAndGo are steps that create a Lease and delete it.
func comeAndGo() []explore.Step {
	return []explore.Step{
		{Name: "create a", Do: func(ctx context.Context, c explore.Conn) error {
			leases, _, err := collections(c)
			if err == nil {
				_, err = leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
			}
			return err
		}},
		{Name: "delete a", Do: func(ctx context.Context, c explore.Conn) error {
			leases, _, err := collections(c)
			if err == nil {
				_, err = leases.Delete(ctx, "default", "a", store.DeleteOptions{})
			}
			return err
		}},
	}
}

// collections returns clients for both kinds.
func collections(c explore.Conn) (*client.Collection[lease.Lease], *client.Collection[endpoints.Endpoints], error) {
	api, err := client.New(client.Config{Server: c.Host, Transport: c.Transport, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	return client.In(api, lease.Kind()), client.In(api, endpoints.Kind()), nil
}

// mirror starts again after each error, until ctx ends.
func mirror(ctx context.Context, c explore.Conn) error {
	leases, children, err := collections(c)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if follow(ctx, leases, children) != nil {
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

func follow(ctx context.Context, leases *client.Collection[lease.Lease], children *client.Collection[endpoints.Endpoints]) error {
	// What was deleted while the controller did not run.
	for child, err := range children.All(ctx, "default") {
		if err == nil {
			_, err = leases.Get(ctx, "default", child.Name)
		}
		if errors.Is(err, store.ErrNotFound) {
			_, err = children.Delete(ctx, "default", child.Name, store.DeleteOptions{})
		}
		if err != nil {
			return err
		}
	}
	for e, err := range leases.Follow(ctx, store.WatchOptions{Namespace: "default"}) {
		switch {
		case err != nil:
			return err
		case e.Type == watch.Deleted:
			if _, err := children.Delete(ctx, "default", e.Object.Name, store.DeleteOptions{}); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		case e.Object != nil:
			child := &endpoints.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: e.Object.Name}}
			if _, err := children.Create(ctx, child, store.CreateOptions{}); err != nil && !errors.Is(err, store.ErrAlreadyExists) {
				return err
			}
		}
	}
	return ctx.Err()
}
