package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// Requests go straight to ServeHTTP and into a writer that keeps nothing. BenchmarkReadyMade is what that alone costs: a
// handler that looks at its path and writes bytes which are ready.

const benchBody = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l%d","namespace":"default","labels":{"app":"bench"}},` +
	`"spec":{"holderIdentity":"node-a_1c3f","leaseDurationSeconds":15,"acquireTime":"2024-01-02T03:04:05.123456Z","renewTime":"2024-01-02T03:04:05.%06dZ","leaseTransitions":%d}}`

// benchServer returns a server that holds so many leases.
func benchServer(b *testing.B, objects int) *server {
	b.Helper()
	s := newServer(b)
	for i := range objects {
		s.must(b, "POST", leases, fmt.Sprintf(benchBody, i, 0, 0))
	}
	return s
}

// nothing is a ResponseWriter that counts.
type nothing struct {
	header http.Header
	code   int
	size   int64
}

func (n *nothing) Header() http.Header { return n.header }
func (n *nothing) WriteHeader(c int)   { n.code = c }

// SetWriteDeadline does what a writer of net/http can do too.
func (n *nothing) SetWriteDeadline(time.Time) error { return nil }
func (n *nothing) Flush()                           {}
func (n *nothing) Write(p []byte) (int, error) {
	n.size += int64(len(p))
	return len(p), nil
}

// reset makes the writer ready for another answer, as a server would.
func (n *nothing) reset() {
	clear(n.header)
	n.code, n.size = 0, 0
}

// benchmark serves the same request again and again; body, if not nil, makes one for each.
func benchmark(b *testing.B, h http.Handler, method, target string, code int, body func(i int) []byte, headers ...string) {
	b.Helper()
	req := newRequest(b, method, target, "", append([]string{"User-Agent", "bench/1.0", "Accept", typeJSON}, headers...)...)
	w := &nothing{header: http.Header{}}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w.reset()
		r := *req
		if body != nil {
			data := body(i)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
			i++
		}
		h.ServeHTTP(w, &r)
	}
	require.Equal(b, code, w.code)
	b.SetBytes(w.size)
}

func BenchmarkGet(b *testing.B) {
	for _, accept := range []string{typeJSON, typeProtobuf + "," + typeJSON} {
		b.Run("accept="+accept, func(b *testing.B) {
			benchmark(b, benchServer(b, 1000).api, "GET", leases+"/l500", http.StatusOK, nil, "Accept", accept)
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	s := benchServer(b, 0)
	benchmark(b, s.api, "POST", leases, http.StatusCreated, func(i int) []byte { return fmt.Appendf(nil, benchBody, i, 0, 0) }, "Content-Type", typeJSON)
}

func BenchmarkUpdate(b *testing.B) {
	s := benchServer(b, 1000)
	version := s.st.ResourceVersion
	benchmark(b, s.api, "PUT", leases+"/l999", http.StatusOK, func(i int) []byte {
		body := fmt.Appendf(nil, benchBody, 999, i%1_000_000, i+1)
		return bytes.Replace(body, []byte(`"name":"l999",`), []byte(`"name":"l999","resourceVersion":"`+version()+`",`), 1)
	}, "Content-Type", typeJSON)
}

// BenchmarkRenew sends the last answer back with one field changed, as client-go does.
func BenchmarkRenew(b *testing.B) {
	for _, row := range []struct {
		name, target string
		number       *regexp.Regexp
	}{{"lease", leases + "/l999", renewTime}, {"endpoints/addresses=50", endpoints + "/web", firstPort}} {
		b.Run(row.name, func(b *testing.B) {
			s := benchServer(b, 1000)
			s.must(b, "POST", endpoints, fiftyAddresses("web"))
			benchmark(b, s.api, "PUT", row.target, http.StatusOK, newRenewal(b, s, row.target, row.number).body, "Content-Type", typeJSON)
		})
	}
}

// BenchmarkLimits measures the cost that the limits of a server add to a request.
func BenchmarkLimits(b *testing.B) {
	for name, opts := range map[string]httpapi.Options{
		"none":          {},
		"of the server": {Reads: 400, Writes: 200, ClientShare: 50, WatchesPerClient: 5000},
	} {
		b.Run(name, func(b *testing.B) {
			s := newServerWith(b, store.Options{}, opts)
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.RemoteAddr = "10.0.0.1:12345"
				s.api.ServeHTTP(w, r)
			})
			b.Run("read", func(b *testing.B) { benchmark(b, h, "GET", leases+"/a", http.StatusNotFound, nil) })
			b.Run("write", func(b *testing.B) {
				benchmark(b, h, "POST", leases, http.StatusBadRequest, func(int) []byte { return []byte("{") })
			})
		})
	}
}

func BenchmarkGetEndpoints(b *testing.B) {
	s := benchServer(b, 1000)
	s.must(b, "POST", endpoints, fiftyAddresses("web"))
	benchmark(b, s.api, "GET", endpoints+"/web", http.StatusOK, nil)
}

func BenchmarkApply(b *testing.B) {
	s := benchServer(b, 1000)
	benchmark(b, s.api, "PATCH", leases+"/l500?fieldManager=bench&force=true", http.StatusOK, func(i int) []byte {
		return fmt.Appendf(nil, benchBody, 500, i%1_000_000, i+1)
	}, "Content-Type", "application/apply-patch+yaml")
}

func BenchmarkPatch(b *testing.B) {
	for _, row := range []struct{ name, contentType, body string }{
		{"merge", "application/merge-patch+json", `{"spec":{"leaseTransitions":%d}}`},
		{"strategic", "application/strategic-merge-patch+json", `{"spec":{"leaseTransitions":%d}}`},
		{"json", "application/json-patch+json", `[{"op":"replace","path":"/spec/leaseTransitions","value":%d}]`},
	} {
		b.Run(row.name, func(b *testing.B) {
			s := benchServer(b, 1000)
			benchmark(b, s.api, "PATCH", leases+"/l500", http.StatusOK, func(i int) []byte { return fmt.Appendf(nil, row.body, i+1) }, "Content-Type", row.contentType)
		})
	}
}

func BenchmarkDelete(b *testing.B) {
	s := benchServer(b, 1)
	body := fmt.Appendf(nil, benchBody, 0, 0, 0)
	create := newRequest(b, "POST", leases, "", "Content-Type", typeJSON)
	w := &nothing{header: http.Header{}}
	benchmark(b, s.api, "DELETE", leases+"/l0", http.StatusOK, func(i int) []byte {
		if i > 0 { // this, too, is measured
			w.reset()
			r := *create
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			s.api.ServeHTTP(w, &r)
		}
		return nil
	})
}

// BenchmarkWatchFanOut is one change until all watchers have written it.
func BenchmarkWatchFanOut(b *testing.B) {
	for _, accept := range []string{typeJSON, typeProtobuf} {
		for _, watchers := range []int{1, 1000, 10_000} {
			b.Run(fmt.Sprintf("accept=%s/watchers=%d", accept, watchers), func(b *testing.B) {
				write := fanOut(b, accept, watchers, 0)
				b.ReportAllocs()
				for b.Loop() {
					write()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(watchers), "ns/event")
			})
		}
	}
}

// fanOut opens watches of a Lease with an annotation of so many bytes. The function that it returns renews the Lease, and waits
// until every watch has sent the event.
func fanOut(t testing.TB, accept string, watchers, size int) (write func()) {
	t.Helper()
	s := newServer(t)
	s.must(t, "POST", leases, fmt.Sprintf(benchBody, 0, 0, 0))
	s.must(t, "PATCH", leases+"/l0", fmt.Sprintf(`{"metadata":{"annotations":{"a":%q}}}`, strings.Repeat("x", size)), "Content-Type", "application/merge-patch+json")
	ctx, cancel := context.WithCancel(t.Context())
	arrived := &arrivals{all: make(chan struct{}, 1)}
	var handlers sync.WaitGroup
	t.Cleanup(func() { cancel(); handlers.Wait() })
	target := fmt.Sprintf("%s?watch=true&fieldSelector=metadata.name%%3Dl0&resourceVersion=%d", leases, s.version())
	arrived.expect(watchers)
	for range watchers {
		w := &watchWriter{nothing: nothing{header: http.Header{}}, arrived: arrived}
		r := newRequest(t, "GET", target, "", "Accept", accept).WithContext(ctx)
		handlers.Go(func() { s.api.ServeHTTP(w, r) })
	}
	<-arrived.all // the headers
	l, err := lease.In(s.st).Get(t.Context(), "default", "l0")
	require.NoError(t, err)
	i := int32(0)
	return func() {
		i++
		arrived.expect(watchers)
		l.Spec.LeaseTransitions = new(i)
		if l, err = lease.In(s.st).Update(t.Context(), l, store.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-arrived.all
	}
}

// The frame of an event is made once, and a delivery allocates nothing.
func TestDeliveriesOfAnEventShareItsFrame(t *testing.T) {
	for _, accept := range []string{typeJSON, typeProtobuf, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"} {
		for _, size := range []int{0, 100 << 10} {
			one := testing.AllocsPerRun(20, fanOut(t, accept, 1, size))
			hundred := testing.AllocsPerRun(20, fanOut(t, accept, 100, size))
			assert.Less(t, hundred, one+20, "%s, %d bytes", accept, size)
		}
	}
}

// arrivals counts down.
type arrivals struct {
	left atomic.Int64
	all  chan struct{}
}

func (a *arrivals) expect(n int) { a.left.Store(int64(n)) }

func (a *arrivals) one() {
	if a.left.Add(-1) == 0 {
		a.all <- struct{}{}
	}
}

// watchWriter reports each flush: one for the header and one for each event here.
type watchWriter struct {
	nothing
	arrived *arrivals
}

func (w *watchWriter) Flush() { w.arrived.one() }

func BenchmarkTransportGet(b *testing.B) {
	s := benchServer(b, 1000)
	req := newRequest(b, "GET", leases+"/l500", "", "User-Agent", "bench/1.0", "Accept", typeJSON)
	transport := s.api.Transport()
	b.ReportAllocs()
	for b.Loop() {
		resp, err := transport.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}

// BenchmarkReadyMade is the limit: no handler of net/http that sends as much can be faster.
func BenchmarkReadyMade(b *testing.B) {
	s := benchServer(b, 10_000)
	for _, row := range []struct{ name, target string }{{"get", leases + "/l500"}, {"list/objects=10000", leases}} {
		b.Run(row.name, func(b *testing.B) {
			data := []byte(s.do(b, "GET", row.target, "").Body)
			length := fmt.Sprint(len(data))
			benchmark(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != row.target {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				h := w.Header()
				h["Content-Type"] = []string{typeJSON}
				h["Content-Length"] = []string{length}
				w.WriteHeader(http.StatusOK)
				w.Write(data)
			}), "GET", row.target, http.StatusOK, nil)
		})
	}
}

// BenchmarkStart measures the cost of a store and an API for one test.
func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		st := store.New(store.Options{})
		api := httpapi.New(st, httpapi.Options{})
		api.Close()
		st.Close()
	}
}
