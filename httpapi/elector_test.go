package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

func TestAPIElectsUntilClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := New(st, Options{Parts: []Part{Elect(candidate.CoordinatorOptions{})}})
		client := &http.Client{Transport: api.Transport()}
		post := func(name string) {
			body := `{"metadata":{"name":"` + name + `"},"spec":{"leaseName":"` + name + `","strategy":"OldestEmulationVersion",` +
				`"binaryVersion":"1.37.0","emulationVersion":"1.37.0","renewTime":"` + time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") + `"}}`
			answer, err := client.Post("http://x/apis/coordination.k8s.io/v1alpha2/namespaces/ns/leasecandidates", "application/json", strings.NewReader(body))
			require.NoError(t, err)
			answer.Body.Close()
			require.Equal(t, http.StatusCreated, answer.StatusCode)
		}
		post("a")
		time.Sleep(time.Second)
		l, err := lease.In(st).Get(t.Context(), "ns", "a")
		require.NoError(t, err)
		assert.Equal(t, "a", *l.Spec.HolderIdentity)

		api.Close()
		time.Sleep(time.Minute)
		after, err := lease.In(st).Get(t.Context(), "ns", "a")
		require.NoError(t, err)
		assert.Equal(t, l, after, "no election follows when the Lease has run out")
	})
}

func TestNewPanicsForCoordinatorOptionsThatAreNotValid(t *testing.T) {
	st := store.New(store.Options{})
	defer st.Close()
	assert.PanicsWithValue(t, "httpapi: Elect: candidate: PingWindow -1s: must not be negative", func() {
		New(st, Options{Parts: []Part{Elect(candidate.CoordinatorOptions{PingWindow: -time.Second})}})
	})
}
