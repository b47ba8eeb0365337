package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// contenderOf returns a Contender with the timing of Kubernetes.
func contenderOf(t *testing.T, leases lease.Client, identity string) *lease.Contender {
	c, err := lease.NewContender(leases, lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: identity, ReleaseOnCancel: true})
	require.NoError(t, err)
	return c
}

func TestContenderWithoutItsServerStopsBeforeItsDeadline(t *testing.T) {
	for name, fault := range map[string]apitest.Effect{
		"silent": apitest.Partition(), "refused": apitest.Refuse(), "hanging": apitest.Hang(),
		"busy": apitest.Answer(429), "failing": apitest.Answer(500),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, apitest.Options{Verify: true}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
				var stopped time.Time
				start := time.Now()
				done := make(chan error)
				go func() {
					done <- contenderOf(t, leases, "a").Run(t.Context(), func(ctx context.Context, _ lease.Holding) {
						<-ctx.Done()
						stopped = time.Now()
					})
				}()
				time.Sleep(10*time.Minute + time.Second)
				last, err := lease.In(api.Store()).Get(t.Context(), "default", "leader")
				require.NoError(t, err)
				f := api.Fault(fault)
				assert.ErrorIs(t, <-done, lease.ErrLost)
				assert.WithinDuration(t, last.Spec.RenewTime.Add(lease.DefaultRenewDeadline), stopped, time.Microsecond, "RenewDeadline after the last renewal")
				f.Remove()
				require.NoError(t, contenderOf(t, lease.In(api.Store()), "b").Acquire(t.Context()))
				assert.LessOrEqual(t, time.Since(start), 10*time.Minute+31*time.Second, "the old one may have released it at the last moment")
			})
		})
	}
}

// Five Contenders reach one server by networks that fail. At most one leads at a time, and each
// holding is observed over a network that fails, too.
func TestContendersOverNetworksThatFail(t *testing.T) {
	const seed, length = 1, time.Hour
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{Verify: true, Store: store.Options{History: 64}})
		var mu sync.Mutex // guards leading and reigns
		leading, reigns := "", 0
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		var all sync.WaitGroup
		connect := func(name string) *client.Collection[lease.Lease] {
			return leasesAt(t, client.Config{Server: api.Host(), Transport: api.TransportFor(name)})
		}
		for i := range 5 {
			name := fmt.Sprint("contender-", i)
			leases := connect(name)
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				for n := 0; ctx.Err() == nil; n++ {
					identity := fmt.Sprint(name, "-", n)
					run, stop := context.WithTimeout(ctx, upTo(random, 10*time.Minute))
					contenderOf(t, leases, identity).Run(run, func(ctx context.Context, _ lease.Holding) {
						mu.Lock()
						assert.Empty(t, leading, "%s leads, too", identity)
						leading = identity
						reigns++
						mu.Unlock()
						<-ctx.Done()
						mu.Lock()
						leading = ""
						mu.Unlock()
					})
					stop()
				}
			})
			all.Go(func() { // the network of this one
				random := rand.New(rand.NewPCG(seed, uint64(10+i)))
				for ctx.Err() == nil {
					sleepFor(ctx, upTo(random, 2*time.Minute))
					faults := []apitest.Effect{
						apitest.Partition(), apitest.Refuse(), apitest.CutAfter(), apitest.CutBefore(),
						apitest.CutWatch(1), apitest.Answer(503), apitest.Delay(4 * time.Second), apitest.ExpireHistory(), apitest.Hang(),
					}
					f := api.Fault(faults[random.IntN(len(faults))], apitest.Match{Client: name})
					sleepFor(ctx, upTo(random, 20*time.Second))
					f.Remove()
				}
			})
		}
		holdings := 0
		var ended error
		all.Go(func() {
			api.Fault(apitest.CutWatch(5), apitest.Match{Verb: "watch", Client: "observer"})
			token := uint64(0)
			for h, err := range lease.Observe(ctx, connect("observer"), "default", "leader") {
				if ended = err; err == nil && h.Holder != "" {
					holdings++
					assert.Greater(t, h.FencingToken, token)
					token = h.FencingToken
				}
			}
		})
		all.Wait()
		assert.ErrorIs(t, ended, context.DeadlineExceeded)
		assert.Greater(t, reigns, 20)
		assert.Greater(t, holdings, 20)
		t.Logf("%d reigns, %d holdings observed", reigns, holdings)
	})
}

// upTo returns a random duration below d.
func upTo(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
}

func sleepFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
