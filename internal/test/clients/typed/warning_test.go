package typed

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(code int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func TestDeprecatedVersionsWarn(t *testing.T) {
	api := testapi.New(t, store.Options{})
	for name, row := range map[string]struct {
		in   func(kubernetes.Interface) kind
		want []string
	}{
		"Lease":                   {leases, nil},
		"LeaseCandidate v1beta1":  {candidates, []string{"coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+"}},
		"LeaseCandidate v1alpha2": {candidatesV1alpha2, []string{"coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+"}},
		"Endpoints":               {endpoints, []string{"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got warnings
			config := api.Config()
			config.WarningHandler = &got
			cs, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			_, err = row.in(cs).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			assert.Equal(t, row.want, got.texts)
		})
	}
}
