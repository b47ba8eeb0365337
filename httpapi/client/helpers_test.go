package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// leasesOf returns the Leases of a server with faults, through its transport.
func leasesOf(t *testing.T, api *apitest.API) *client.Collection[lease.Lease] {
	t.Helper()
	return leasesAt(t, client.Config{Server: api.Host(), Transport: api.TransportFor("client")})
}

func leasesAt(t *testing.T, config client.Config) *client.Collection[lease.Lease] {
	t.Helper()
	c, err := client.New(config)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return client.In(c, lease.Kind())
}

// inBubble runs a test in virtual time with a server.
func inBubble(t *testing.T, opts apitest.Options, test func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, opts)
		test(t, api, leasesOf(t, api))
	})
}

// seen records the events of a watch as text.
type seen struct {
	events chan string
	err    chan error
}

// watchFunc is Watch or Follow of a collection.
type watchFunc func(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[lease.Lease], error]

// record watches in a goroutine of its own, until the end of the test.
func record(t *testing.T, open watchFunc, opts store.WatchOptions) *seen {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &seen{make(chan string, 1000), make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var last error
		for ev, err := range open(ctx, opts) {
			if last = err; err == nil {
				s.events <- text(ev)
			}
		}
		s.err <- last
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// next returns the events that have come since the last call, once nothing moves any more.
func (s *seen) next() (all []string) {
	synctest.Wait()
	for {
		select {
		case ev := <-s.events:
			all = append(all, ev)
		default:
			return all
		}
	}
}

// end reports whether the watch has ended, and with which error.
func (s *seen) end() (ended bool, err error) {
	select {
	case err := <-s.err:
		return true, err
	default:
		return false, nil
	}
}

// text returns the type of an event, and the name and the holder of the Lease.
func text(ev watch.Event[lease.Lease]) string {
	if ev.Type == watch.Bookmark {
		return fmt.Sprint(ev.Type, " ", ev.InitialEventsEnd)
	}
	return fmt.Sprint(ev.Type, " ", ev.Object.Name, " ", *ev.Object.Spec.HolderIdentity)
}

// put writes a Lease by the store.
func put(t *testing.T, st *store.Store, name, holder string) {
	t.Helper()
	_, err := lease.In(st).Modify(t.Context(), "default", name, func(l *lease.Lease) error {
		l.Spec.HolderIdentity = &holder
		return nil
	}, store.UpdateOptions{})
	if errors.Is(err, store.ErrNotFound) {
		_, err = lease.In(st).Create(t.Context(), newLease(name, holder), store.CreateOptions{})
	}
	require.NoError(t, err)
}

func remove(t *testing.T, st *store.Store, name string) {
	t.Helper()
	_, err := lease.In(st).Delete(t.Context(), "default", name, store.DeleteOptions{})
	require.NoError(t, err)
}
