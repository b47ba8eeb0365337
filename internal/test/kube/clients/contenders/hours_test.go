package contenders

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

var seedFlag = flag.Uint64("seed", 0, "of the random choices; 0 takes a new seed each time")

// Three electors, three Contenders and three Contenders over HTTP start and stop for
// six hours, at times with a release. Those over HTTP also lose their connection.
func TestElectorsAndContendersNeverLeadAtOnce(t *testing.T) {
	const each, length = 3, 6 * time.Hour
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", seed)
	begin := time.Now()
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{History: 64})
		r := newReferee()
		until := time.Now().Add(length)
		var all sync.WaitGroup
		for i := range each {
			own := api.Bypass() // a connection of its own
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			all.Go(func() { runRepeatedly(random, until, fmt.Sprint("elector-", i), elector(t, own, r), own.Link) })
			random = rand.New(rand.NewPCG(seed, uint64(each+i)))
			all.Go(func() { runRepeatedly(random, until, fmt.Sprint("contender-", i), contender(t, api, r), nil) })
			far := api.Bypass()
			random = rand.New(rand.NewPCG(seed, uint64(2*each+i)))
			all.Go(func() { runRepeatedly(random, until, fmt.Sprint("remote-", i), remote(t, far, r), far.Link) })
		}
		ctx, cancel := context.WithCancel(t.Context())
		holdings := 0
		var watched error
		all.Go(func() {
			var last lease.Holding
			for h, err := range lease.Observe(ctx, lease.In(api.Store), leaseNamespace, leaseName) {
				if err != nil {
					watched = err
					return
				}
				if h.Holder != "" {
					holdings++
					assert.Greater(t, h.FencingToken, last.FencingToken)
					if last.Holder != "" {
						assert.Equal(t, last.LeaseTransitions+1, h.LeaseTransitions, "each term is counted")
					}
					last = h
				}
			}
		})
		time.Sleep(length + 10*time.Minute)
		cancel()
		all.Wait()
		assert.ErrorIs(t, watched, context.Canceled)
		assert.Empty(t, r.fouls, "-seed %d", seed)
		assert.Greater(t, r.reigns["elector"], 10)
		assert.Greater(t, r.reigns["contender"], 10)
		assert.Greater(t, r.reigns["remote"], 10)
		assert.Greater(t, holdings, 20)
		t.Logf("%d reigns of electors, %d of contenders, %d of those over HTTP", r.reigns["elector"], r.reigns["contender"], r.reigns["remote"])
	})
	t.Logf("took %s", time.Since(begin).Round(time.Millisecond))
}

// runRepeatedly runs a contender again and again, each time for a while under a new
// identity. It cuts the link at times, if there is one.
func runRepeatedly(random *rand.Rand, until time.Time, name string, run run, link *testapi.Link) {
	for i := 0; time.Now().Before(until); i++ {
		ctx, cancel := context.WithTimeout(context.Background(), upTo(random, 3*time.Minute))
		release := random.IntN(2) == 0
		cut, wholeFor, cutFor := link != nil && random.IntN(2) == 0, upTo(random, time.Minute), upTo(random, 30*time.Second)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if !cut {
				return
			}
			wait(ctx, wholeFor)
			link.Cut()
			wait(ctx, cutFor)
			link.Mend()
		}()
		// An elector of client-go 1.37 that cannot renew releases the Lease before the context of its leader ends.
		run(ctx, fmt.Sprintf("%s_%d", name, i), release && !cut)
		cancel()
		<-ended
		time.Sleep(upTo(random, 4*time.Minute))
	}
}

// upTo returns a random duration below d.
func upTo(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
}

// wait waits for d, or for the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func TestElectorsAndContendersTakeOverFromEachOther(t *testing.T) {
	type kind = func(t *testing.T, api *testapi.API, r *referee) run
	for name, row := range map[string]struct {
		first, second kind
		release       bool
		from, to      time.Duration // bounds of the time until the second one leads
	}{
		"a contender after an elector that releases":  {elector, contender, true, 0, 30 * time.Millisecond},
		"a contender after an elector that crashed":   {elector, contender, false, 13 * time.Second, 15*time.Second + 30*time.Millisecond},
		"an elector after a contender that releases":  {contender, elector, true, 0, 4400 * time.Millisecond},
		"an elector after a contender that crashed":   {contender, elector, false, 12800 * time.Millisecond, 15*time.Second + 2*4400*time.Millisecond},
		"a remote one after an elector that releases": {elector, remote, true, 0, 30 * time.Millisecond},
		"a remote one after an elector that crashed":  {elector, remote, false, 13 * time.Second, 15*time.Second + 30*time.Millisecond},
		"an elector after a remote one that releases": {remote, elector, true, 0, 4400 * time.Millisecond},
		"an elector after a remote one that crashed":  {remote, elector, false, 12800 * time.Millisecond, 15*time.Second + 2*4400*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api, r := testapi.New(t, store.Options{}), newReferee()
				stop := start(t, row.first(t, api, r), "first", row.release)
				synctest.Wait()
				require.Equal(t, "first", r.leader())
				start(t, row.second(t, api, r), "second", false)
				time.Sleep(time.Minute + time.Second)
				require.Equal(t, "first", r.leader(), "it renews")

				stopped := time.Now()
				stop()
				for h, err := range lease.Observe(t.Context(), lease.In(api.Store), leaseNamespace, leaseName) {
					require.NoError(t, err)
					if h.Holder == "second" {
						assert.EqualValues(t, 1, h.LeaseTransitions)
						break
					}
				}
				assert.GreaterOrEqual(t, time.Since(stopped), row.from)
				assert.LessOrEqual(t, time.Since(stopped), row.to)
				synctest.Wait()
				assert.Equal(t, "second", r.leader())
				assert.Empty(t, r.fouls)
			})
		})
	}
}
