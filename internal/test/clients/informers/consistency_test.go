package informers

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/util/consistencydetector"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// The detector lists at the exact version of the end of each stream, and panics
// if the list differs.
func TestStreamEqualsTheListAtItsVersion(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
	t.Cleanup(consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true))
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		f := &fixture{API: api, cs: api.Client(t)}
		for i := range 600 {
			l := testapi.Lease(fmt.Sprint("l", i))
			l.Namespace = fmt.Sprint("ns-", i%7)
			_, err := f.cs.CoordinationV1().Leases(l.Namespace).Create(t.Context(), l, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		f.Link.Requests()
		factory, rec := f.start(t)
		assert.Len(t, rec.Take(), 600)
		f.assertFresh(t, factory)
		exact := 0
		for _, r := range f.Link.Requests() {
			if r.Query.Get("resourceVersionMatch") == "Exact" {
				exact++
			}
		}
		assert.Equal(t, 2, exact, "the detector has listed")
		time.Sleep(time.Hour)
		f.assertFresh(t, factory)
	})
}
