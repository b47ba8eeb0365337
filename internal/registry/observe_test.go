package registry_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// writer is the context key of the name of a writer.
type writer struct{}

// observed is an Observer that keeps what it gets: for each Begin a text with the version and the changes after it.
type observed struct {
	texts []string
	empty bool
	last  registry.ObjectChange
}

func observe(st *registry.Store) *observed {
	o := &observed{}
	st.Observe(o)
	return o
}

func (o *observed) Begin(version uint64, empty bool) {
	o.texts, o.empty = append(o.texts, fmt.Sprint(version, ":")), empty
}

func (o *observed) Changed(ctx context.Context, c registry.ObjectChange) {
	text := o.texts[len(o.texts)-1]
	if !strings.HasSuffix(text, ":") {
		text += ","
	}
	o.texts[len(o.texts)-1] = text + " " + c.Kind().Info().Plural + strings.TrimPrefix(changesOf([]registry.ObjectChange{c})[0], c.Kind().Info().Kind+":")
	if by := ctx.Value(writer{}); by != nil {
		o.texts[len(o.texts)-1] += fmt.Sprint(" by ", by)
	}
	o.last = c
}

func TestObserversGetAllChangesInTheirOrder(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	st := newStoreWith(t, registry.Options{History: 1, Clock: clock.Func(func() time.Time { return now })})
	first := observe(st)
	assert.True(t, first.empty)
	leases := leasesIn(st)
	mustCreate(t, leases, newLease("ns/a"))
	assert.Equal(t, now, first.last.At)
	second := observe(st)
	assert.False(t, second.empty)
	_, err := in(st, endpoints.Kind()).Create(t.Context(), newEndpoints("ns/e"), store.CreateOptions{})
	require.NoError(t, err)
	mustModify(t, leases, "ns/a", holder("x"))
	st.ExpireHistory()
	fork := newFork(t, st)
	mustCreate(t, leasesIn(fork), newLease("ns/f"))
	mustDelete(t, leases, "ns/a")
	assert.Equal(t, []string{"1000: leases -> a@1001, endpoints -> e@1002, leases a@1001 -> a@1003, leases a@1003 ->"}, first.texts)
	assert.Equal(t, []string{"1001: endpoints -> e@1002, leases a@1001 -> a@1003, leases a@1003 ->"}, second.texts)
	assert.EqualValues(t, 1004, first.last.Version)
}

func TestObserversGetTheContextOfEachWrite(t *testing.T) {
	st := newStore(t)
	o := observe(st)
	r := leaseResource(st)
	req := registry.Request{Namespace: "ns", Name: "a"}
	by := func(name string) context.Context { return context.WithValue(t.Context(), writer{}, name) }
	_, err := r.Create(by("create"), newLease("ns/a"), &req)
	require.NoError(t, err)
	_, _, err = r.Update(by("update"), &req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		l := current.Wire().(*lease.Lease)
		holder("x")(l)
		finalizers("a/b")(l)
		return l, nil
	}))
	require.NoError(t, err)
	_, err = r.Delete(by("delete"), new(req), &kinds.DeleteOptions{})
	require.NoError(t, err)
	_, _, err = r.Update(by("release"), &req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		l := current.Wire().(*lease.Lease)
		l.Finalizers = nil
		return l, nil
	}))
	require.NoError(t, err)
	_, err = r.Create(t.Context(), newLease("ns/a"), &req)
	require.NoError(t, err)
	_, err = r.DeleteCollection(by("collection"), registry.Request{}, registry.ListOptions{}, kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"1000: leases -> a@1001 by create, leases a@1001 -> a@1002 by update, leases a@1002 -> a@1003 by delete, " +
		"leases a@1003 -> by release, leases -> a@1005, leases a@1005 -> by collection"}, o.texts)
}

// Only the race detector sees the fault: a write reads whether changes have a time while Observe sets it.
func TestObservingMayStartDuringWrites(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	var writers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			for n := range 50 {
				_, err := leases.Create(t.Context(), newLease(fmt.Sprintf("ns/w%d-%d", i, n)), store.CreateOptions{})
				assert.NoError(t, err)
			}
		})
	}
	o := observe(st)
	writers.Wait()
	begin, _, _ := strings.Cut(o.texts[0], ":")
	assert.Equal(t, fmt.Sprint(1100-strings.Count(o.texts[0], "->")), begin)
}
