package typed

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestRetriedIncrementsAreCountedOnce(t *testing.T) {
	const writers, each = 20, 10
	backoff := wait.Backoff{Steps: 100_000, Duration: 1} // practically without limit
	testapi.EachWire(t, func(t *testing.T, api *testapi.API, cs kubernetes.Interface) {
		c := cs.CoordinationV1().Leases(testapi.Namespace)
		start, err := c.Create(t.Context(), testapi.Lease("counter"), metav1.CreateOptions{})
		require.NoError(t, err)
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					err := retry.RetryOnConflict(backoff, func() error {
						l, err := c.Get(t.Context(), "counter", metav1.GetOptions{})
						if err != nil {
							return err
						}
						*l.Spec.LeaseTransitions++
						_, err = c.Update(t.Context(), l, metav1.UpdateOptions{})
						return err
					})
					assert.NoError(t, err)
				}
			})
		}
		all.Wait()
		l, err := c.Get(t.Context(), "counter", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, writers*each, *l.Spec.LeaseTransitions)
		assert.Equal(t, version(t, start)+writers*each, version(t, l), "each write took one version")
		assert.Equal(t, l.ResourceVersion, api.Store.ResourceVersion())
	})
}
