package apitest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// verdict is a testing.TB that keeps its messages.
type verdict struct {
	testing.TB
	errors, logs []string
}

func (v *verdict) Helper() {}
func (v *verdict) Errorf(format string, args ...any) {
	v.errors = append(v.errors, fmt.Sprintf(format, args...))
}
func (v *verdict) Logf(format string, args ...any) {
	v.logs = append(v.logs, fmt.Sprintf(format, args...))
}

// contend runs contenders for an hour. Each one leads for a while, and then releases the
// Lease or is killed.
func contend(t *testing.T, leases *store.Collection[lease.Lease]) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range 3 {
		wg.Go(func() {
			for turn := 0; ctx.Err() == nil; turn++ {
				c, err := lease.NewContender(leases, lease.ContenderOptions{
					Namespace: "default", Name: "leader", Identity: fmt.Sprintf("%d-%d", i, turn), ReleaseOnCancel: turn%2 == 0,
				})
				if !assert.NoError(t, err) {
					return
				}
				c.Run(ctx, func(ctx context.Context, _ lease.Holding) {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
					}
				})
			}
		})
	}
}

func TestVerifyAcceptsContendersThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		contend(t, lease.In(api.Store()))
		var v verdict
		assert.True(t, api.Verify(&v))
		assert.Empty(t, v.errors)
		assert.Empty(t, v.logs)
	})
}

// An elector that takes the Lease whenever it is not its own.
func TestVerifyFindsAnElectorThatIgnoresRenewTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		leases := lease.In(api.Store())
		hold := func(who string) {
			_, err := leases.Modify(t.Context(), "default", "leader", func(l *lease.Lease) error {
				l.Spec = lease.LeaseSpec{HolderIdentity: &who, LeaseDurationSeconds: new(int32(15)), RenewTime: new(meta.NewMicroTime(time.Now()))}
				return nil
			}, store.UpdateOptions{})
			if errors.Is(err, store.ErrNotFound) {
				_, err = leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"}}, store.CreateOptions{})
			}
			require.NoError(t, err)
		}
		hold("")
		for range 4 {
			time.Sleep(2 * time.Second)
			hold("good")
		}
		time.Sleep(2 * time.Second)
		hold("bad")
		time.Sleep(20 * time.Second)
		hold("good")

		var v verdict
		assert.False(t, api.Verify(&v))
		require.Len(t, v.errors, 1)
		assert.Regexp(t, `^apitest: two held the Lease default/leader at once: "bad" took the Lease at \S+, 13s before the Lease of "good" ran out
          0s  1001 ADDED leases default/leader through the Store, held by nobody
          2s  1002 MODIFIED leases default/leader through the Store, held by "good" for 15s
          4s  1003 MODIFIED leases default/leader through the Store, held by "good" for 15s
          6s  1004 MODIFIED leases default/leader through the Store, held by "good" for 15s
          8s  1005 MODIFIED leases default/leader through the Store, held by "good" for 15s
         10s  1006 MODIFIED leases default/leader through the Store, held by "bad" for 15s$`, v.errors[0])
	})
}

func TestVerifyLogsWhenHistoryIsTooShort(t *testing.T) {
	api := apitest.New(t, apitest.Options{KeepHistory: 2})
	for _, name := range []string{"a", "b", "c"} {
		_, err := lease.In(api.Store()).Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}, store.CreateOptions{})
		require.NoError(t, err)
	}
	var v verdict
	assert.True(t, api.Verify(&v))
	assert.Equal(t, []string{"apitest: Verify: the store had more changes than KeepHistory: examined the last 2"}, v.logs)
}

func TestVerifyRecordsNothingWithANegativeLimit(t *testing.T) {
	api := apitest.New(t, apitest.Options{KeepHistory: -1})
	_, err := lease.In(api.Store()).Create(t.Context(), leaseOf("a"), storeOptions)
	require.NoError(t, err)
	nothing := apitest.Verdict{TwoHolders: []apitest.Finding{}, LostUpdates: []apitest.Finding{}, Limits: []string{"nothing was kept: Options.KeepHistory is negative"}}
	assert.Equal(t, nothing, api.Verdict())
}

func TestVerifyShowsLostUpdatesAtTheEndOfALongTest(t *testing.T) {
	w := &writers{t, apitest.New(t, apitest.Options{KeepHistory: 20})}
	w.does("x", "POST", leases, leaseNamed("a"))
	for range 40 {
		w.patches("y", heldBy+"z"+endOf)
		w.patches("y", heldBy+"y"+endOf)
	}
	w.does("x", "GET", leasesA, "")
	w.patches("y", heldBy+"z"+endOf)
	w.patches("x", heldBy+"x"+endOf)
	v := w.api.Verdict()
	require.Len(t, v.LostUpdates, 1)
	assert.Contains(t, v.LostUpdates[0].Text, `it knew 1081 and replaced 1082: spec.holderIdentity was "y", then "z", and is "x"`)
	require.Len(t, v.LostUpdates[0].Excerpt, 9)
	assert.Equal(t, "…", v.LostUpdates[0].Excerpt[0])
	assert.Equal(t, []string{"the store had more changes than KeepHistory: examined the last 20"}, v.Limits)
}

func TestVerifyLogsWhenClientsSawTooManyObjects(t *testing.T) {
	w := &writers{t, apitest.New(t, apitest.Options{KeepHistory: 2})}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		_, err := lease.In(w.api.Store()).Create(t.Context(), leaseOf(name), storeOptions)
		require.NoError(t, err)
		w.does("x", "GET", leases+"/"+name, "")
		few := len(w.api.Verdict().Limits) < 2
		assert.Equal(t, i < 4, few, "%d objects", i+1)
	}
}

func TestVerifyRemembersObjectsThatAreSeenAgain(t *testing.T) {
	w := &writers{t, apitest.New(t, apitest.Options{KeepHistory: 2})}
	w.does("x", "POST", leases, leaseNamed("a"))
	for range 5 {
		w.does("x", "GET", leasesA, "")
	}
	assert.Empty(t, w.api.Verdict().Limits)
}

// checked is a test with cleanups to run.
type checked struct {
	verdict
	cleanups []func()
}

func (c *checked) Cleanup(f func()) { c.cleanups = append(c.cleanups, f) }

func TestVerifyAtTheEndOfATest(t *testing.T) {
	c := &checked{verdict: verdict{TB: t}}
	api := apitest.New(c, apitest.Options{Verify: true})
	leases := lease.In(api.Store())
	_, err := leases.Create(t.Context(), &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"},
		Spec:       lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15))},
	}, store.CreateOptions{})
	require.NoError(t, err)
	_, err = leases.Modify(t.Context(), "default", "leader", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new("b")
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	for _, f := range c.cleanups {
		f()
	}
	require.Len(t, c.errors, 1)
	assert.Contains(t, c.errors[0], `"b" took the Lease`)
}

// A Part of Options.API may write as soon as the API has started, and nothing of that is lost.
func TestWritesWhileTheAPIStartsAreRecorded(t *testing.T) {
	written := make(chan error)
	hold := func(ctx context.Context, a *httpapi.API, holder string) error {
		l := leaseOf("a")
		l.Spec = lease.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15))}
		_, err := lease.In(a.Store()).Apply(ctx, l, store.ApplyOptions{FieldManager: "m"})
		return err
	}
	api := apitest.New(t, apitest.Options{Over: store.New(store.Options{}), API: httpapi.Options{
		Parts: []httpapi.Part{func(a *httpapi.API, _ *httpapi.Options) func(context.Context) {
			assert.NoError(t, hold(t.Context(), a, "start"))
			return func(ctx context.Context) { written <- hold(ctx, a, "run") }
		}},
	}})
	require.NoError(t, <-written)
	found := api.Verdict().TwoHolders
	require.Len(t, found, 1)
	require.Len(t, found[0].Excerpt, 2)
	assert.Contains(t, found[0].Excerpt[0], `through the Store, held by "start"`)
	assert.Contains(t, found[0].Excerpt[1], `through the Store, held by "run"`)
}
