package httpapi_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	testengine "github.com/kubecoord/kubecoord/internal/test/engine"
)

// What clients of a store on a backend see when it has no contact to the backend.
func TestAnswersWithoutContactToTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testengine.New(1000)
		s := newServerOn(t, e)
		s.must(t, "POST", leases, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a"}}`)
		watched, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases+"?watch=true&resourceVersion=1000", ""))
		require.NoError(t, err)
		defer watched.Body.Close()
		e.Set(func(f *testengine.Faults) { f.Cut = true })
		start := time.Now()
		events, err := io.ReadAll(watched.Body)
		require.NoError(t, err, "the watch ends as at its timeout")
		assert.Equal(t, 30*time.Second, time.Since(start))
		assert.Equal(t, 1, strings.Count(string(events), `"type":`), "%s", events)

		refused := s.do(t, "GET", leases+"?watch=true&resourceVersion=1001", "")
		assert.Equal(t, 429, refused.Code)
		assert.Equal(t, "1", refused.Header.Get("Retry-After"))
		assert.Equal(t, "storage is (re)initializing", refused.tree(t).at("message"))
		assert.Equal(t, 200, s.do(t, "GET", leases+"/a?resourceVersion=0", "").Code)
		assert.Equal(t, 200, s.do(t, "GET", leases+"?resourceVersion=0", "").Code)

		for _, target := range []string{leases, leases + "/a"} {
			start := time.Now()
			late := s.do(t, "GET", target+"?timeout=5s", "")
			assert.Equal(t, 504, late.Code, target)
			assert.Equal(t, "Timeout", late.tree(t).at("reason"))
			assert.Equal(t, 5*time.Second, time.Since(start))
		}
		e.Set(func(f *testengine.Faults) { f.Cut, f.Err = false, errNoSpace })
		broken := s.do(t, "GET", leases, "")
		var status struct {
			Code    int
			Message string
		}
		require.NoError(t, json.Unmarshal([]byte(broken.Body), &status))
		assert.Equal(t, 500, status.Code)
		assert.Equal(t, errNoSpace.Error(), status.Message)
	})
}

type textError string

func (e textError) Error() string { return string(e) }

// errNoSpace is an error of etcd.
const errNoSpace = textError("etcdserver: mvcc: database space exceeded")
