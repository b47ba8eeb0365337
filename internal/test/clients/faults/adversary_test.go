package faults

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

// Under any adversary, an acknowledged write is done once, any other write is done at most once, and an informer ends with
// the state of the server.
func TestClientsRecoverFromAnAdversary(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed+1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := apitest.New(t)
				direct := leasesOf(clientOf(t, api.Host(), api.Transport()))
				create(t, direct, "a")
				chosen := apitest.Adversary(apitest.AdversaryOptions{Seed: seed + 1, Percent: 30})
				adversary := api.Fault(apitest.Choose(func(r apitest.Request) apitest.Effect {
					if r.Client == "" {
						return apitest.Effect{}
					}
					return chosen
				}))

				factory := informers.NewSharedInformerFactory(clientOf(t, api.Host(), api.TransportFor("informer")), 0)
				lister := factory.Coordination().V1().Leases().Lister()
				ctx, cancel := context.WithCancel(t.Context())
				defer factory.Shutdown()
				defer cancel()
				factory.StartWithContext(ctx)

				writer := leasesOf(clientOf(t, api.Host(), api.TransportFor("writer")))
				var acknowledged, unknown int32
				for range 200 {
					time.Sleep(time.Second)
					l, err := writer.Get(t.Context(), "a", metav1.GetOptions{})
					if err != nil {
						continue
					}
					*l.Spec.LeaseTransitions++
					if _, err = writer.Update(t.Context(), l, metav1.UpdateOptions{}); err == nil {
						acknowledged++
					} else {
						unknown++
					}
				}
				assert.Greater(t, adversary.Hits(), 100)
				assert.NotZero(t, acknowledged)
				assert.NotZero(t, unknown)

				adversary.Remove()
				time.Sleep(longestBackoff)
				synctest.Wait()
				stored, err := direct.Get(t.Context(), "a", metav1.GetOptions{})
				require.NoError(t, err)
				assert.GreaterOrEqual(t, *stored.Spec.LeaseTransitions, acknowledged)
				assert.LessOrEqual(t, *stored.Spec.LeaseTransitions, acknowledged+unknown)
				cached, err := lister.Leases(testapi.Namespace).Get("a")
				require.NoError(t, err)
				assert.Equal(t, stored, cached)
			})
		})
	}
}
