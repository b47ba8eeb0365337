package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
)

// write has a client create, update, patch, apply and delete Leases at random until ctx ends.
func write(ctx context.Context, t testing.TB, api *apitest.API, name string, seed uint64) {
	leases := leasesOf(clientOf(t, api, name))
	rnd := rand.New(rand.NewPCG(seed, uint64(len(name))))
	for ctx.Err() == nil {
		lease := fmt.Sprintf("%s-%d", name, rnd.IntN(4))
		switch rnd.IntN(5) {
		case 0:
			leases.Create(ctx, testapi.Lease(lease), metav1.CreateOptions{})
		case 1, 2:
			if l, err := leases.Get(ctx, lease, metav1.GetOptions{}); err == nil {
				l.Labels = map[string]string{"app": []string{"x", "y"}[rnd.IntN(2)]}
				leases.Update(ctx, l, metav1.UpdateOptions{})
			}
		case 3:
			patch := fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, rnd.IntN(10))
			leases.Patch(ctx, lease, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		case 4:
			leases.Delete(ctx, lease, metav1.DeleteOptions{})
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rnd.Int64N(int64(5 * time.Second)))):
		}
	}
}

func inJSON(config *rest.Config) { config.ContentType = "application/json" }

// inform runs informers of a client until ctx ends.
func inform(ctx context.Context, t testing.TB, api *apitest.API, name, selector string, change ...func(*rest.Config)) {
	factory := informers.NewSharedInformerFactoryWithOptions(clientOf(t, api, name, change...), 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector }))
	factory.Coordination().V1().Leases().Informer()
	factory.StartWithContext(ctx)
	<-ctx.Done()
	factory.Shutdown()
}

// The adversary must not make the server answer wrongly, nor make two electors lead at once.
func TestVerifyFindsNothingUnderAnAdversary(t *testing.T) {
	for seed := range uint64(20) {
		watchList := seed%2 == 0
		t.Run(fmt.Sprintf("seed %d", seed+1), func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
			synctest.Test(t, func(t *testing.T) {
				api := apitest.New(t, apitest.Options{Verify: true, KeepHistory: 100_000})
				adversary := api.Fault(apitest.Adversary(apitest.AdversaryOptions{Seed: seed + 1, Percent: 25}))
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				var all sync.WaitGroup
				for _, name := range []string{"a", "b", "c"} {
					all.Go(func() { elect(ctx, testapi.Lock(clientOf(t, api, name, inJSON).CoordinationV1(), name)) })
				}
				for _, name := range []string{"w", "ww"} {
					all.Go(func() { write(ctx, t, api, name, seed) })
				}
				all.Go(func() { inform(ctx, t, api, "i", "", inJSON) })
				all.Go(func() { inform(ctx, t, api, "j", "app=x") })
				all.Wait()

				assert.Empty(t, text(api.Verdict().TwoHolders))
				assert.Empty(t, text(api.Verdict().LostUpdates))
				assert.Greater(t, adversary.Hits(), 100)
			})
		})
	}
}

// elect runs an elector until ctx ends. After losing the Lease it contends again.
func elect(ctx context.Context, lock resourcelock.Interface) {
	for ctx.Err() == nil {
		testapi.RunElector(ctx, lock, false, func(context.Context) {}, func() {})
	}
}

// text returns the texts of findings.
func text(findings []apitest.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}
