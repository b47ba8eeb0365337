package apitest_test

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// This file tests lagging replicas together with other features.

func TestStaleWatchesMayBeSlowAndTorn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.Fault(apitest.Delay(time.Second).Then(apitest.SlowEvents(time.Second)).Then(apitest.Stale(apitest.StaleOptions{})).Then(apitest.EndWatch(1)))
		d.create(t, "b")
		start := time.Now()
		w := d.watch(t, leases+"?watch=true&resourceVersion=0")
		assert.Equal(t, "ADDED a", w.next())
		assert.Equal(t, 2*time.Second, time.Since(start))
		assert.Equal(t, "0 bytes, EOF", w.next())
	})
}

func TestAdversaryLagsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.Fault(apitest.Adversary(apitest.AdversaryOptions{Seed: 3, Percent: 100}))
		behind := 0
		for range 200 {
			d.hold(t, time.Now().String())
			now := fmt.Sprint((*registry.Store)(d.Store()).ResourceVersion(), ": a")
			if got := d.do(t, "GET", leases+anyState, ""); got.code == http.StatusOK && names(t, got) != now {
				behind++
			}
			if got := d.do(t, "GET", leases, ""); got.code == http.StatusOK {
				assert.Equal(t, now, names(t, got), "a consistent read is never stale")
			}
			time.Sleep(time.Second)
		}
		assert.Greater(t, behind, 10)
	})
}

// A clock that does not move would leave a replica with Age behind for ever.
func TestWatchesCatchUpAfterTheAdversaryIsRemoved(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			now := time.Now()
			api := apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.Func(func() time.Time { return now })}})
			d := doorTo(api)
			d.create(t, "a")
			adversary := d.Fault(apitest.Adversary(apitest.AdversaryOptions{Seed: seed + 1, Percent: 100}))
			start := time.Now()
			req, err := http.NewRequestWithContext(t.Context(), "GET", d.base+leases+"?watch=true&resourceVersion=1000", nil)
			require.NoError(t, err)
			resp, err := d.client.Do(req)
			adversary.Remove()
			if err == nil {
				_, _ = bufio.NewReader(resp.Body).ReadString('\n') // an event, or the end
				resp.Body.Close()
			}
			assert.LessOrEqual(t, time.Since(start), time.Second, "no event comes later than that")
		})
	}
}
