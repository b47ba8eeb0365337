package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// A hundred Contenders contend, lead for a while, release and contend again.
func TestOfAHundredContendersOneLeadsAtEveryMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		leases := In(st)
		ctx, cancel := context.WithCancel(t.Context())
		var leading, terms atomic.Int64
		var fence atomic.Uint64
		var all sync.WaitGroup
		for i := range 100 {
			c := contenderWith(t, leases, ContenderOptions{Identity: fmt.Sprint("c-", i), ReleaseOnCancel: true})
			all.Go(func() {
				for ctx.Err() == nil {
					err := c.Run(ctx, func(ctx context.Context, h Holding) {
						assert.EqualValues(t, 1, leading.Add(1))
						assert.Greater(t, h.FencingToken, fence.Swap(h.FencingToken))
						assert.Equal(t, int64(h.LeaseTransitions), terms.Add(1)-1)
						pause(ctx, 1+rand.N(20*time.Second))
						leading.Add(-1)
					})
					if ctx.Err() == nil {
						assert.NoError(t, err)
					}
				}
			})
		}
		for range 600 {
			synctest.Wait()
			require.EqualValues(t, 1, leading.Load())
			time.Sleep(time.Second)
		}
		cancel()
		all.Wait()
		assert.Empty(t, *get(t, leases).Spec.HolderIdentity)
		assert.Greater(t, terms.Load(), int64(30))
		assert.Zero(t, st.Watchers())
	})
}

// After a crash the Lease stays held until it expires.
func TestAnotherContenderLeadsAfterACrashAndTheDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		crash := errors.New("crash")
		var leading atomic.Int64
		var all sync.WaitGroup
		start := time.Now()
		for i := range 10 {
			c := contenderWith(t, leases, ContenderOptions{Identity: fmt.Sprint("c-", i), ReleaseOnCancel: true})
			all.Go(func() {
				defer func() { assert.Equal(t, crash, recover()) }()
				c.Run(t.Context(), func(ctx context.Context, h Holding) {
					defer leading.Add(-1)
					assert.EqualValues(t, 1, leading.Add(1))
					time.Sleep(time.Minute)
					panic(crash)
				})
			})
		}
		all.Wait()
		// The last renewal of a term comes 58 or 60 seconds after its beginning.
		took := time.Since(start)
		assert.GreaterOrEqual(t, took, time.Minute+9*(58+15)*time.Second)
		assert.LessOrEqual(t, took, time.Minute+9*(60+15)*time.Second)
	})
}

// pause waits for d, or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
