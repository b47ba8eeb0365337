package httpapi_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// lasted waits for the end of a watch that sends nothing, and returns how long it took.
func (s *server) lasted(t *testing.T, query string) time.Duration {
	t.Helper()
	began := time.Now()
	w := s.watch(t, leases+"?watch=true"+query)
	_, err := w.next()
	require.Equal(t, io.EOF, err)
	return time.Since(began)
}

func TestWatchEndsAtItsTimeout(t *testing.T) {
	for query, row := range map[string]struct{ from, to time.Duration }{
		"&timeoutSeconds=1":    {time.Second, time.Second},
		"&timeoutSeconds=10":   {10 * time.Second, 10 * time.Second},
		"&timeoutSeconds=7200": {2 * time.Hour, 2 * time.Hour},
		"&timeoutSeconds=0":    {30 * time.Minute, time.Hour},
		"":                     {30 * time.Minute, time.Hour},
	} {
		t.Run(query, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took := newServer(t).lasted(t, query)
				assert.GreaterOrEqual(t, took, row.from)
				assert.LessOrEqual(t, took, row.to)
			})
		})
	}
}

func TestDefaultTimeoutsOfWatchesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for range 50 {
			w := s.watch(t, leases+"?watch=true")
			go func() { _, _ = w.next() }()
		}
		synctest.Wait()
		require.Equal(t, 50, s.st.Watchers())
		time.Sleep(45 * time.Minute)
		synctest.Wait()
		assert.Less(t, s.st.Watchers(), 45)
		assert.Greater(t, s.st.Watchers(), 5)
		time.Sleep(15 * time.Minute)
		synctest.Wait()
		assert.Zero(t, s.st.Watchers())
	})
}

func TestDefaultTimeoutOfAWatchDependsOnTheSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lasted := func(seed uint64, query string) time.Duration {
			return newServerWith(t, store.Options{Seed: seed}, httpapi.Options{}).lasted(t, query)
		}
		first := lasted(7, "")
		assert.Equal(t, first, lasted(7, ""))
		assert.NotEqual(t, first, lasted(8, ""))
		assert.GreaterOrEqual(t, first, 30*time.Minute)
		assert.Less(t, first, time.Hour)
	})
}
