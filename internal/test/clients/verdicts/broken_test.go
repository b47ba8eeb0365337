package verdicts

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

// hasty makes a client-go elector ignore how long a Lease is held.
type hasty struct{ resourcelock.Interface }

// Get returns the record with a duration of zero, unless this elector holds the Lease.
func (h hasty) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := h.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != h.Identity() {
		record.LeaseDurationSeconds = 0
	}
	return record, raw, err
}

func TestVerifyFindsAClientGoElectorThatIgnoresRenewTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() { elect(ctx, t, lockOf(t, api, "good")) })
		time.Sleep(20 * time.Second)
		assert.Empty(t, api.Verdict().TwoHolders)
		all.Go(func() { elect(ctx, t, hasty{lockOf(t, api, "bad")}) })
		all.Wait()
		found := text(api.Verdict().TwoHolders)
		assert.Contains(t, found, `two held the Lease `+testapi.Namespace+`/leader at once: "bad" took the Lease at`)
		assert.Contains(t, found, `before the Lease of "good" ran out`)
	})
}

// dropping is a ResponseWriter that drops writes that contain a text.
type dropping struct {
	http.ResponseWriter
	text string
}

func (d *dropping) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (d *dropping) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(d.text)) {
		return len(p), nil
	}
	return d.ResponseWriter.Write(p)
}

// An informer does not notice that its server leaves out an event.
func TestReportFindsAnEventThatAnInformerMisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := behind(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("watch") != "" {
					w = &dropping{w, `"missed"`}
				}
				next.ServeHTTP(w, r)
			})
		})
		leases := leasesOf(t, api.API, "writer")
		l, err := leases.Create(t.Context(), testapi.Lease("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		factory := informers.NewSharedInformerFactory(clientOf(t, api.API, "informer", jsonType), 0)
		lister := factory.Coordination().V1().Leases().Lister()
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		synctest.Wait()
		l.Labels = map[string]string{"app": "missed"}
		_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		_, err = leases.Create(t.Context(), testapi.Lease("b"), metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		cached, err := lister.Leases(testapi.Namespace).Get("a")
		require.NoError(t, err)
		require.NotContains(t, cached.Labels, "app", "the informer got no event")

		found := api.Report().Findings
		require.Len(t, found, 1)
		assert.Contains(t, found[0], "an event is not the next change of its watch from version 1001: {Type:ADDED")
		assert.Contains(t, found[0], `watch of client "informer"`)
	})
}

// A client cannot notice this: it trusts the answer to its write.
func TestReportFindsAWriteThatTheServerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forgetful := false
		api := behind(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if forgetful && r.Method == http.MethodPut {
					query := r.URL.Query()
					query.Set("dryRun", "All")
					r = r.Clone(r.Context())
					r.URL.RawQuery = query.Encode()
				}
				next.ServeHTTP(w, r)
			})
		})
		leases := leasesOf(t, api.API, "writer")
		l, err := leases.Create(t.Context(), testapi.Lease("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		l.Labels = map[string]string{"app": "x"}
		l, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Empty(t, api.Report().Findings)
		forgetful = true
		for _, app := range []string{"y", "z"} {
			l.Labels["app"] = app
			_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
			require.NoError(t, err)
		}
		found := api.Report().Findings
		require.Len(t, found, 2)
		assert.Contains(t, found[0], `a get returned a state that is not in the history: update of client "writer"`)
	})
}

// Two controllers of one object: the first patches it from a state that the second has already replaced.
func TestVerifyFindsAPatchThatUndoesAnUpdate(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(t *testing.T, api *apitest.API, based string)
		lost  int
	}{
		"a patch": {func(t *testing.T, api *apitest.API, _ string) {
			_, err := leasesOf(t, api, "slow").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"slow"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
		}, 1},
		"a patch with an optimistic lock": {func(t *testing.T, api *apitest.API, based string) {
			patch := `{"metadata":{"resourceVersion":"` + based + `","labels":{"app":"slow"}}}`
			_, err := leasesOf(t, api, "slow").Patch(t.Context(), "a", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			require.ErrorContains(t, err, "the object has been modified")
		}, 0},
		"an update with retries": {func(t *testing.T, api *apitest.API, _ string) {
			leases := leasesOf(t, api, "slow")
			require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
				l, err := leases.Get(t.Context(), "a", metav1.GetOptions{})
				if err != nil {
					return err
				}
				l.Labels["app"] = "slow"
				_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
				return err
			}))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			api := apitest.New(t)
			fast := leasesOf(t, api, "fast")
			_, err := fast.Create(t.Context(), testapi.Lease("a"), metav1.CreateOptions{})
			require.NoError(t, err)
			seen, err := leasesOf(t, api, "slow").Get(t.Context(), "a", metav1.GetOptions{})
			require.NoError(t, err)
			_, err = fast.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"fast"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			tt.write(t, api, seen.ResourceVersion)
			v := api.Verdict()
			assert.Empty(t, v.TwoHolders)
			require.Len(t, v.LostUpdates, tt.lost)
			if tt.lost > 0 {
				assert.Contains(t, v.LostUpdates[0].Text, `then "fast", and is "slow"`)
			}
		})
	}
}
