package main

import (
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMetricsCanBeReadByPrometheus reads the metrics with the library of Prometheus.
func TestMetricsCanBeReadByPrometheus(t *testing.T) {
	server := plain(startServer(t, "-listen", "127.0.0.1:0", "-data-dir", t.TempDir()).url)
	server.must(t, "POST", leases, newLease("a"))
	server.must(t, "PATCH", leases+"/a", `{"spec":{"holderIdentity":"me"}}`)
	server.must(t, "GET", leases+"/a", "")
	server.must(t, "DELETE", leases+"/a", "")
	code, text := server.do(t, "GET", "/metrics", "")
	require.Equal(t, 200, code)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err, "%s", text)
	for _, name := range []string{
		"apiserver_request_total", "apiserver_request_duration_seconds", "apiserver_current_inflight_requests",
		"apiserver_resource_objects", "apiserver_storage_size_bytes",
		"etcd_request_duration_seconds", "etcd_requests_total", "process_cpu_seconds_total", "go_goroutines",
	} {
		assert.NotEmpty(t, families[name].GetMetric(), name)
	}
	assert.Greater(t, families["apiserver_storage_size_bytes"].Metric[0].GetGauge().GetValue(), 10_000.0)
	operations := map[string]float64{}
	for _, m := range families["etcd_requests_total"].Metric {
		key := ""
		for _, l := range m.Label { // group, operation, resource
			key += l.GetValue() + " "
		}
		operations[key] += m.GetCounter().GetValue()
	}
	for _, operation := range []string{"create", "update", "delete"} {
		assert.Equal(t, 1.0, operations["coordination.k8s.io "+operation+" leases "], "%s: %v", operation, operations)
	}
}
