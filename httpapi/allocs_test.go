//go:build !race

package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// caller sends requests that were made before, into a writer that keeps nothing. It
// allocates nothing itself but a copy of the request.
type caller struct {
	h    http.Handler
	w    nothing
	body bytes.Reader
}

func newCaller(h http.Handler) *caller {
	return &caller{h: h, w: nothing{header: http.Header{}}}
}

// Close makes the caller a body.
func (c *caller) Close() error { return nil }

// Read reads the body of the current request.
func (c *caller) Read(p []byte) (int, error) { return c.body.Read(p) }

// do sends a request with a body, if it is not nil, and returns the code of the answer.
func (c *caller) do(req *http.Request, body []byte) int {
	c.w.reset()
	r := *req
	if body != nil {
		c.body.Reset(body)
		r.Body, r.ContentLength = io.ReadCloser(c), int64(len(body))
	}
	c.h.ServeHTTP(&c.w, &r)
	return c.w.code
}

// A request allocates no more than it does today. The ceilings leave room for a garbage
// collection, which empties the pools.
func TestAllocationsOfARequest(t *testing.T) {
	var buf []byte
	format := func(head, tail string) func(i int) []byte {
		return func(i int) []byte {
			buf = append(strconv.AppendInt(append(buf[:0], head...), int64(i), 10), tail...)
			return buf
		}
	}
	newLease := format(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"new-`,
		`","labels":{"app":"bench"}},"spec":{"holderIdentity":"a","leaseDurationSeconds":15}}`)
	for _, row := range []struct {
		name, method, target string
		code                 int
		body                 func(i int) []byte
		renew                *regexp.Regexp // makes the bodies, if it is not nil
		contentType          string
		most                 float64
	}{
		{"get", "GET", leases + "/l0", http.StatusOK, nil, nil, "", 4},
		{"renew", "PUT", leases + "/l0", http.StatusOK, nil, renewTime, typeJSON, 15},
		{"merge patch", "PATCH", leases + "/l0", http.StatusOK, format(`{"spec":{"leaseTransitions":1`, `}}`), nil, "application/merge-patch+json", 14},
		{"create", "POST", leases, http.StatusCreated, newLease, nil, typeJSON, 17},
		{"same object in protobuf", "PUT", leases + "/l0", http.StatusOK, nil, nil, typeProtobuf, 25},
		{"endpoints get", "GET", endpoints + "/web", http.StatusOK, nil, nil, "", 8},
		{"endpoints update", "PUT", endpoints + "/web", http.StatusOK, nil, firstPort, typeJSON, 134},
	} {
		t.Run(row.name, func(t *testing.T) {
			// With a clock that stands still, so that no write gets another time in managedFields.
			s := newServerWith(t, store.Options{Clock: clock.Func(func() time.Time { return time.Unix(1_767_323_045, 0) })}, httpapi.Options{})
			s.must(t, "POST", leases, fmt.Sprintf(benchBody, 0, 0, 0), "User-Agent", "bench/1.0")
			s.must(t, "POST", endpoints, fiftyAddresses("web"))
			body := row.body
			if row.contentType == typeProtobuf {
				same := []byte(s.do(t, "GET", row.target, "", "Accept", typeProtobuf).Body)
				body = func(int) []byte { return same }
			}
			if row.renew != nil {
				body = newRenewal(t, s, row.target, row.renew).body
			}
			req := newRequest(t, row.method, row.target, "", "User-Agent", "bench/1.0", "Accept", typeJSON, "Content-Type", row.contentType)
			req.RemoteAddr = "10.0.0.1:12345"
			c := newCaller(s.api)
			i, last := 0, 0
			allocs := testing.AllocsPerRun(200, func() {
				var data []byte
				if body != nil {
					data = body(i)
				}
				last = c.do(req, data)
				i++
			})
			require.Equal(t, row.code, last)
			assert.LessOrEqual(t, allocs, row.most)
		})
	}
}

// A length that a header promises costs nothing before the bytes arrive.
func TestPromisedBodyCostsLittle(t *testing.T) {
	s, c := newServer(t), newCaller(nil)
	c.h = s.api
	req := newRequest(t, "POST", leases, "", "Content-Type", typeJSON)
	const requests = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range requests {
		r := *req
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{")), 3<<20
		c.w.reset()
		c.h.ServeHTTP(&c.w, &r)
		require.Equal(t, http.StatusInternalServerError, c.w.code)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(requests*64<<10))
}

// A body may arrive in any parts, with and without a length.
func TestBodyArrivesInParts(t *testing.T) {
	s := newServer(t)
	annotation := strings.Repeat("x", 100_000)
	body := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"big","annotations":{"a":"` + annotation + `"}}}`
	for i, length := range []int64{int64(len(body)), -1} {
		req := newRequest(t, "POST", leases, "", "Content-Type", typeJSON)
		req.Body, req.ContentLength = io.NopCloser(iotest.HalfReader(strings.NewReader(strings.Replace(body, "big", fmt.Sprintf("b-%d", i), 1)))), length
		a := s.send(t, req)
		require.Equal(t, http.StatusCreated, a.Code, a.Body)
		assert.Contains(t, a.Body, annotation)
	}
}

// Nothing bounds the managers of an object but its size, as in a kube-apiserver. Each write reads all of them, and no pair of them.
func TestAnApplyCostsInProportionToTheManagers(t *testing.T) {
	s := newServer(t)
	managers := 0
	apply := func() {
		body := fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","labels":{"l%d":"x"}}}`, managers)
		s.must(t, "PATCH", fmt.Sprint(leases, "/a?fieldManager=m", managers), body, "Content-Type", "application/apply-patch+yaml")
		managers++
	}
	// cost returns the bytes and the allocations of an apply to an object with so many managers.
	cost := func(with int) (bytes, allocations float64) {
		for managers < with {
			apply()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const applies = 20
		for range applies {
			apply()
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / applies, float64(after.Mallocs-before.Mallocs) / applies
	}
	fewBytes, fewAllocations := cost(100)
	manyBytes, manyAllocations := cost(400)
	assert.Less(t, manyBytes/fewBytes, 4.6, "of bytes")
	assert.Less(t, manyAllocations/fewAllocations, 4.6, "of allocations")
}

// A body that stops must not cost more memory than has arrived, and a part.
func TestABodyThatStopsLeavesNoGarbage(t *testing.T) {
	s := newServer(t)
	const arrived = 1_500_000
	send := func() {
		req := newRequest(t, "POST", leases, "", "Content-Type", typeJSON)
		req.Body = io.NopCloser(io.MultiReader(bytes.NewReader(make([]byte, arrived)), brokenBody{}))
		req.ContentLength = 3 << 20
		assertStatus(t, s.send(t, req), http.StatusInternalServerError, "", "invalid byte in chunk length")
	}
	send()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	send()
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*arrived+256<<10), "arrived twice: once in the test")
}

// See BenchmarkTransportGet.
func TestGetThroughTheTransportAllocatesLittle(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	req := newRequest(t, "GET", leases+"/a", "")
	transport, into := s.api.Transport(), make([]byte, 4096)
	got := testing.AllocsPerRun(100, func() {
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		_, err = resp.Body.Read(into)
		require.NoError(t, err)
	})
	assert.LessOrEqual(t, got, 16.0)
}
