package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestAnswersWithoutRetryAfterBecomeTypedErrors(t *testing.T) {
	for name, row := range map[string]struct {
		answer meta.Status
		is     func(error) bool
	}{
		"409":         {meta.Status{Code: 409}, apierrors.IsConflict},
		"410":         {meta.Status{Code: 410}, apierrors.IsResourceExpired},
		"500":         {meta.Status{Code: 500}, apierrors.IsInternalError},
		"503":         {meta.Status{Code: 503}, apierrors.IsServiceUnavailable},
		"504":         {meta.Status{Code: 504}, apierrors.IsTimeout},
		"403":         {meta.Status{Code: 403}, apierrors.IsForbidden},
		"429 at once": {meta.Status{Code: 429, Details: &meta.StatusDetails{}}, apierrors.IsTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			eachDoor(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
				l := create(t, leases, "a")
				f := api.Fault(apitest.AnswerStatus(row.answer), apitest.Match{Verb: "update", Resource: "leases", Name: "a"})
				_, err := leases.Update(t.Context(), l, metav1.UpdateOptions{})
				require.Error(t, err)
				assert.True(t, row.is(err), "%v", err)
				assert.Equal(t, 1, f.Hits(), "client-go does not retry")
				f.Remove()
				_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
				assert.NoError(t, err, "nothing was changed")
			})
		})
	}
}

func TestClientWaitsForRetryAfter(t *testing.T) {
	busy := meta.Status{Code: 503}
	busy.Details = &meta.StatusDetails{RetryAfterSeconds: 7}
	for name, answer := range map[string]meta.Status{"429": meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 7}}, "503": busy} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
				f := api.Fault(apitest.AnswerStatus(answer).First(2))
				start := time.Now()
				create(t, leasesOf(cs), "a")
				assert.Equal(t, 14*time.Second, time.Since(start), "writes are retried too")
				assert.Equal(t, 2, f.Hits())
			})
		})
	}
}
