package serve

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
)

// BenchmarkMetricsOfARequest is what /metrics costs each request.
func BenchmarkMetricsOfARequest(b *testing.B) {
	m := newMetrics()
	e := httpapi.LogEntry{Method: "PUT", Code: http.StatusOK, Duration: time.Millisecond, Attributes: httpapi.Attributes{
		Verb: "update", IsResource: true, Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Namespace: "default", Name: "a",
	}}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.request(e)
		}
	})
}
