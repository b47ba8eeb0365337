package registry_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

const (
	tooOldList = "The resourceVersion for the provided list is too old."
	invalidOpt = `ListOptions.meta.k8s.io "" is invalid: `
)

// A real server reads one object from etcd where a list of many would be of a very version: nothing is waited for, and a
// limit does not make it exact. The store is the store of the table above.
func TestResourceVersionOfAListOfOneObject(t *testing.T) {
	type options = registry.ListOptions
	for name, row := range map[string]struct {
		opts    options
		want    string // the version of the list, or the error
		waits   bool
		retries int32
	}{
		"N":                             {options{ResourceVersion: "1001"}, "1004", false, 0},
		"N with a limit":                {options{ResourceVersion: "1001", Limit: 1}, "1004", false, 0},
		"N long gone with a limit":      {options{ResourceVersion: "1", Limit: 1}, "1004", false, 0},
		"N Exact":                       {options{ResourceVersion: "1001", ResourceVersionMatch: "Exact", Limit: 1}, "1001", false, 0},
		"N Exact, long gone":            {options{ResourceVersion: "1", ResourceVersionMatch: "Exact"}, tooOldList, false, 0},
		"N to come":                     {options{ResourceVersion: "1005"}, tooLarge("1005", "1004"), true, 1},
		"N to come, with a limit":       {options{ResourceVersion: "1005", Limit: 1}, tooLarge("1005", "1004"), false, 0},
		"N to come, Exact":              {options{ResourceVersion: "1005", ResourceVersionMatch: "Exact"}, tooLarge("1005", "1004"), false, 0},
		"N to come, NotOlderThan":       {options{ResourceVersion: "1005", ResourceVersionMatch: "NotOlderThan", Limit: 1}, tooLarge("1005", "1004"), true, 1},
		"of all namespaces but for one": {options{ResourceVersion: "1", Limit: 1, FieldSelector: "metadata.namespace=ns,metadata.name=a"}, "1004", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := leasesIn(newStore(t))
				createAll(t, leases, "ns/a")
				mustModify(t, leases, "ns/a", holder("x"))
				createAll(t, leases, "ns/b", "ns/c")
				if row.opts.FieldSelector == "" {
					row.opts.Namespace, row.opts.FieldSelector = "ns", "metadata.name=a"
				}
				start := time.Now()
				items, m, err := leases.List(t.Context(), row.opts)
				assert.Equal(t, row.waits, time.Since(start) == 3*time.Second)
				if err != nil {
					assert.EqualError(t, err, row.want)
					if details := statusOf(t, err).Details; details != nil {
						assert.Equal(t, row.retries, details.RetryAfterSeconds)
					}
					return
				}
				assert.Equal(t, row.want, m.ResourceVersion)
				assert.Equal(t, []string{"ns/a"}, paths(items))
			})
		})
	}
}

// states is a model of a store's leases: the state after each version.
type states map[uint64]map[string]*lease.Lease

// randomHistory writes at random and returns the states it went through.
// Endpoints are written in between, so that versions go by which change no lease.
func randomHistory(t *testing.T, st *registry.Store, writes int) states {
	t.Helper()
	leases, all := leasesIn(st), in(st, endpoints.Kind())
	rnd := rand.New(rand.NewPCG(1, 2))
	now := map[string]*lease.Lease{}
	history := states{st.ResourceVersion(): {}}
	for i := range writes {
		path := manyPaths([]string{"a", "a-b", "b"}[rnd.IntN(3)], 10)[rnd.IntN(10)]
		next := make(map[string]*lease.Lease, len(now))
		for k, v := range now {
			next[k] = v
		}
		switch _, there := now[path]; {
		case rnd.IntN(5) == 0:
			e := newEndpoints("a/e")
			e.Annotations = map[string]string{"i": rv(uint64(i))}
			_, err := all.Update(t.Context(), e, store.UpdateOptions{})
			require.NoError(t, err)
		case !there:
			next[path] = mustCreate(t, leases, newLease(path))
		case rnd.IntN(3) == 0:
			mustDelete(t, leases, path)
			delete(next, path)
		default:
			next[path] = mustModify(t, leases, path, holder(rv(uint64(i))))
		}
		now = next
		history[st.ResourceVersion()] = now
	}
	return history
}

func TestExactListEndsAtTheAgeOfHistory(t *testing.T) {
	now := epoch
	st := newStoreWith(t, registry.Options{HistoryAge: time.Minute, Clock: clock.Func(func() time.Time { return now })})
	leases := leasesIn(st)
	exact := func(version string) error {
		_, _, err := leases.List(t.Context(), registry.ListOptions{ResourceVersion: version, ResourceVersionMatch: registry.MatchExact})
		return err
	}
	createAll(t, leases, "ns/a")
	now = now.Add(time.Minute)
	createAll(t, leases, "ns/b")
	require.NoError(t, exact("1000"))
	now = now.Add(time.Nanosecond)
	require.ErrorIs(t, exact("1000"), store.ErrExpired, "nothing had to be written for it to expire")
	require.NoError(t, exact("1001"))
	now = now.Add(time.Hour)
	require.ErrorIs(t, exact("1001"), store.ErrExpired)
	require.NoError(t, exact("1002"), "the present never expires")
}

func TestReadOfAFutureVersionIsAnsweredAsSoonAsItComes(t *testing.T) {
	for name, read := range map[string]func(context.Context, *registry.Store) error{
		"list": func(ctx context.Context, st *registry.Store) error {
			items, m, err := leasesIn(st).List(ctx, registry.ListOptions{ResourceVersion: "1002"})
			if err == nil {
				assert.Equal(t, "1002", m.ResourceVersion)
				assert.Len(t, items, 2)
			}
			return err
		},
		"exact list": func(ctx context.Context, st *registry.Store) error {
			_, _, err := leasesIn(st).List(ctx, registry.ListOptions{ResourceVersion: "1002", ResourceVersionMatch: registry.MatchExact})
			return err
		},
		"get": func(ctx context.Context, st *registry.Store) error {
			_, err := leaseResource(st).Get(ctx, "ns", "b", "1002")
			return err
		},
		"delete collection": func(ctx context.Context, st *registry.Store) error {
			_, err := leasesIn(st).DeleteCollection(ctx, kinds.DeleteOptions{DryRun: dryAll}, registry.ListOptions{ResourceVersion: "1002"})
			return err
		},
	} {
		// start reads in a goroutine and returns its answer and how long it took.
		start := func(t *testing.T, ctx context.Context, st *registry.Store) (<-chan error, *time.Duration) {
			answer, took := make(chan error, 1), new(time.Duration)
			began := time.Now()
			go func() {
				err := read(ctx, st)
				*took = time.Since(began)
				answer <- err
			}()
			synctest.Wait()
			return answer, took
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				answer, took := start(t, t.Context(), st)
				time.Sleep(time.Second)
				createAll(t, leasesIn(st), "ns/a")
				synctest.Wait()
				assert.Empty(t, answer, "one version is still missing")
				createAll(t, leasesIn(st), "ns/b")
				require.NoError(t, <-answer)
				assert.Equal(t, time.Second, *took)
			})
		})
		t.Run(name+" in vain", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				answer, took := start(t, t.Context(), st)
				time.Sleep(time.Second)
				createAll(t, leasesIn(st), "ns/a")
				err := <-answer
				assert.Equal(t, 3*time.Second, *took)
				assertStatus(t, err, 504, store.ErrTimeout, "Timeout: Too large resource version: 1002, current: 1001")
				assert.Equal(t, &meta.StatusDetails{
					Causes:            []meta.StatusCause{{Type: "ResourceVersionTooLarge", Message: "Too large resource version"}},
					RetryAfterSeconds: 1,
				}, statusOf(t, err).Details)
			})
		})
		t.Run(name+" given up", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				ctx, cancel := context.WithCancel(t.Context())
				answer, _ := start(t, ctx, st)
				cancel()
				require.ErrorIs(t, <-answer, context.Canceled)
			})
		})
		t.Run(name+" with a deadline of its own", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				answer, took := start(t, ctx, newStore(t))
				require.ErrorIs(t, <-answer, context.DeadlineExceeded)
				assert.Equal(t, time.Second, *took)
			})
		})
		t.Run(name+" of a store that closes", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				answer, _ := start(t, t.Context(), st)
				st.Close()
				require.ErrorIs(t, <-answer, registry.ErrClosed)
			})
		})
	}
}
