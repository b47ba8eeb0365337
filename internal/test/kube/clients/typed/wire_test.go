package typed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestClientsUseTheirMediaType(t *testing.T) {
	api := testapi.New(t, store.Options{})
	for name, row := range map[string]struct {
		cs            kubernetes.Interface
		object, watch string
	}{
		"by default": {api.Client(t), "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch"},
		"JSON":       {api.JSONClient(t), "application/json", "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			api.Link.Requests()
			k := leases(row.cs)
			_, err := k.Update(t.Context(), create(t, row.cs, "a"), metav1.UpdateOptions{})
			require.NoError(t, err)
			_, err = k.Get(t.Context(), "none", metav1.GetOptions{})
			require.Error(t, err)
			_, err = k.List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			w, err := k.Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			w.Stop()
			require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{}))
			requests := api.Link.Requests()
			require.Len(t, requests, 6)
			for _, r := range requests {
				want := row.object
				if r.Watches() {
					want = row.watch
				}
				assert.Equal(t, want, r.AnswerType, "%s", r)
				if r.Method != "GET" {
					assert.Equal(t, row.object, r.ContentType, "%s", r)
				}
			}
		})
	}
}
