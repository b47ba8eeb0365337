package lease

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestContenderRefusesBadOptions(t *testing.T) {
	good := ContenderOptions{Namespace: "default", Name: "leader", Identity: "a"}
	for text, spoil := range map[string]func(o *ContenderOptions){
		`Namespace "": a lowercase RFC 1123 label`:                                 func(o *ContenderOptions) { o.Namespace = "" },
		`Namespace "a.b": must not contain dots`:                                   func(o *ContenderOptions) { o.Namespace = "a.b" },
		`Name "A": a lowercase RFC 1123 subdomain`:                                 func(o *ContenderOptions) { o.Name = "A" },
		"Identity must not be empty":                                               func(o *ContenderOptions) { o.Identity = "" },
		"LeaseDuration 10s must be greater than RenewDeadline 10s":                 func(o *ContenderOptions) { o.LeaseDuration = 10 * time.Second },
		"LeaseDuration 10.5s must be whole seconds":                                func(o *ContenderOptions) { o.LeaseDuration = 10500 * time.Millisecond },
		"LeaseDuration -1s must be greater than RenewDeadline 10s":                 func(o *ContenderOptions) { o.LeaseDuration = -time.Second },
		"must be whole seconds, 2147483647 at most":                                func(o *ContenderOptions) { o.LeaseDuration = math.MaxInt32*time.Second + time.Second },
		"RenewDeadline 2.4s must be greater than RetryPeriod 2s by a factor":       func(o *ContenderOptions) { o.RenewDeadline = 2400 * time.Millisecond },
		"RenewDeadline -1s must be greater than RetryPeriod 2s by a factor of 1.":  func(o *ContenderOptions) { o.RenewDeadline = -time.Second },
		"RetryPeriod 999ms must be 1s or more":                                     func(o *ContenderOptions) { o.RetryPeriod = 999 * time.Millisecond },
		"RenewPeriod 1.5s must be RetryPeriod 2s or more":                          func(o *ContenderOptions) { o.RenewPeriod = 1500 * time.Millisecond },
		"RenewDeadline 10s must be greater than RenewPeriod 7s and RetryPeriod 2s": func(o *ContenderOptions) { o.RenewPeriod = 7 * time.Second },
		"RetryPeriod -1s must be 1s or more":                                       func(o *ContenderOptions) { o.RetryPeriod = -time.Second },
		"FieldManager: ":                                                           func(o *ContenderOptions) { o.FieldManager = strings.Repeat("x", 129) },
	} {
		t.Run(text, func(t *testing.T) {
			opts := good
			spoil(&opts)
			c, err := NewContender(newLeases(t, store.Options{}), opts)
			assert.ErrorContains(t, err, text)
			assert.Nil(t, c)
		})
	}
	t.Run("all mistakes at once", func(t *testing.T) {
		_, err := NewContender(newLeases(t, store.Options{}), ContenderOptions{RetryPeriod: time.Minute})
		for _, text := range []string{"Namespace", "Name ", "Identity", "RenewDeadline"} {
			assert.ErrorContains(t, err, text)
		}
	})
	t.Run("the shortest durations", func(t *testing.T) {
		_, err := NewContender(newLeases(t, store.Options{}), ContenderOptions{
			Namespace: "default", Name: "leader", Identity: "a",
			LeaseDuration: 2 * time.Second, RenewDeadline: 1201 * time.Millisecond, RetryPeriod: time.Second,
		})
		assert.NoError(t, err)
	})
}

// The contents equal client-go's (leaderelection.go).
func TestContenderWritesTheSameAsAnElector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		a := contenderWith(t, leases, ContenderOptions{Identity: "a", FieldManager: "contender"})
		b := newContender(t, leases, "b")

		require.True(t, try(t, a))
		l := get(t, leases)
		created := micro()
		want := LeaseSpec{
			HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15)),
			AcquireTime: created, RenewTime: created, LeaseTransitions: new(int32(0)),
		}
		assert.Equal(t, want, l.Spec, "created")
		require.Len(t, l.ManagedFields, 1)
		assert.Equal(t, "contender", l.ManagedFields[0].Manager)

		time.Sleep(3 * time.Second)
		require.NoError(t, a.Renew(t.Context()))
		want.RenewTime = micro()
		assert.Equal(t, want, get(t, leases).Spec, "renewed")

		require.False(t, try(t, b))
		time.Sleep(15 * time.Second)
		require.True(t, try(t, b))
		want = LeaseSpec{
			HolderIdentity: new("b"), LeaseDurationSeconds: new(int32(15)),
			AcquireTime: micro(), RenewTime: micro(), LeaseTransitions: new(int32(1)),
		}
		assert.Equal(t, want, get(t, leases).Spec, "taken over")

		time.Sleep(time.Second)
		require.NoError(t, b.Release(t.Context()))
		want = LeaseSpec{
			HolderIdentity: new(""), LeaseDurationSeconds: new(int32(1)),
			AcquireTime: micro(), RenewTime: micro(), LeaseTransitions: new(int32(1)),
		}
		assert.Equal(t, want, get(t, leases).Spec, "released")

		require.True(t, try(t, a))
		assert.EqualValues(t, 2, *get(t, leases).Spec.LeaseTransitions, "an acquisition counts, a release does not")
	})
}

func TestContenderChangesOnlyTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		l, err := leases.Create(t.Context(), &Lease{
			ObjectMeta: meta.ObjectMeta{
				Namespace: namespace, Name: name,
				Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"}, Finalizers: []string{"x.y/z"},
			},
			Spec: LeaseSpec{Strategy: new(OldestEmulationVersion), PreferredHolder: new("b")},
		}, store.CreateOptions{})
		require.NoError(t, err)
		c := newContender(t, leases, "c")
		check := func(text string) {
			now := get(t, leases)
			assert.Equal(t, l.Labels, now.Labels, text)
			assert.Equal(t, l.Annotations, now.Annotations, text)
			assert.Equal(t, l.Finalizers, now.Finalizers, text)
			assert.Equal(t, l.Spec.Strategy, now.Spec.Strategy, text)
			assert.Equal(t, l.Spec.PreferredHolder, now.Spec.PreferredHolder, text)
		}

		require.True(t, try(t, c))
		check("acquired")
		time.Sleep(time.Second)
		require.NoError(t, c.Renew(t.Context()))
		check("renewed")
		require.NoError(t, c.Release(t.Context()))
		check("released")
	})
}

func TestHeldReturnsTheTermUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{FirstResourceVersion: 500})
		c := newContender(t, leases, "c")
		_, held := c.Held()
		assert.False(t, held, "the Contender holds nothing yet")

		require.True(t, try(t, c))
		want := Holding{Holder: "c", FencingToken: 501}
		got, held := c.Held()
		assert.True(t, held)
		assert.Equal(t, want, got)

		time.Sleep(9 * time.Second)
		require.NoError(t, c.Renew(t.Context()))
		time.Sleep(10*time.Second - 1)
		got, held = c.Held()
		assert.True(t, held)
		assert.Equal(t, want, got, "a renewal begins no new term")
		time.Sleep(time.Nanosecond)
		_, held = c.Held()
		assert.False(t, held, "RenewDeadline after the renewal")

		time.Sleep(5 * time.Second)
		require.True(t, try(t, c))
		got, _ = c.Held()
		assert.Equal(t, Holding{Holder: "c", FencingToken: 503, LeaseTransitions: 1}, got, "a term after that is another one")
		require.NoError(t, c.Release(t.Context()))
		_, held = c.Held()
		assert.False(t, held)
	})
}

func TestTwoCallsOfOneContenderPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		require.True(t, try(t, newContender(t, leases, "other")))
		c := newContender(t, leases, "c")
		done := later(func() error { return c.Acquire(t.Context()) })
		synctest.Wait()
		for name, call := range map[string]func(){
			"Run":        func() { c.Run(t.Context(), nil) },
			"Acquire":    func() { c.Acquire(t.Context()) },
			"TryAcquire": func() { c.TryAcquire(t.Context()) },
			"Renew":      func() { c.Renew(t.Context()) },
			"Release":    func() { c.Release(t.Context()) },
		} {
			assert.PanicsWithValue(t, "lease: two calls of one Contender at once", call, name)
		}
		require.NoError(t, <-done, "the first call is not affected")
		assert.NoError(t, c.Renew(t.Context()))
	})
}
