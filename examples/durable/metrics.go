package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/store/kind"
)

// etcdMetrics are the numbers of a real API server that have to do with etcd (upstream: apiserver, storage/etcd3/metrics).
type etcdMetrics struct {
	registry         *prometheus.Registry
	durations        *prometheus.HistogramVec
	requests, errors *prometheus.CounterVec
	size             *prometheus.GaugeVec
}

func newEtcdMetrics() *etcdMetrics {
	labels := []string{"operation", "group", "resource"}
	m := &etcdMetrics{
		registry: prometheus.NewRegistry(),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "etcd_request_duration_seconds", Help: "Etcd request latency in seconds for each operation and object type.",
			Buckets: []float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60},
		}, labels),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "etcd_requests_total", Help: "Etcd request counts for each operation and object type."}, labels),
		errors:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "etcd_request_errors_total", Help: "Etcd failed request counts for each operation and object type."}, labels),
		size:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "apiserver_storage_size_bytes", Help: "Size of the storage database file physically allocated in bytes."}, []string{"storage_cluster_id"}),
	}
	m.registry.MustRegister(m.durations, m.requests, m.errors, m.size)
	return m
}

// observe counts a request to etcd for a key without the prefix of all keys.
func (m *etcdMetrics) observe(kinds []kind.Kind, operation, key string, took time.Duration, err error) {
	group, resource := "", ""
	for _, kind := range kinds {
		if info := kind.Info(); strings.HasPrefix(key, info.StoragePrefix+"/") {
			group, resource = info.Group, info.Plural
		}
	}
	m.durations.WithLabelValues(operation, group, resource).Observe(took.Seconds())
	m.requests.WithLabelValues(operation, group, resource).Inc()
	if err != nil {
		m.errors.WithLabelValues(operation, group, resource).Inc()
	}
}

// write writes the numbers in the text form of Prometheus.
func (m *etcdMetrics) write(w io.Writer) {
	families, _ := m.registry.Gather() // these metrics agree
	for _, f := range families {
		expfmt.MetricFamilyToText(w, f) // fails only if the client has gone
	}
}

// writeMetrics writes the numbers of etcd.
func (e *engine) writeMetrics(ctx context.Context, w io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	endpoint := "" // of the member in this process
	if all := e.client.Endpoints(); len(all) > 0 {
		endpoint = all[0]
	}
	e.metrics.size.Reset()
	if s, err := e.client.Status(ctx, endpoint); err == nil {
		e.metrics.size.WithLabelValues("etcd-0").Set(float64(s.DbSize))
	}
	e.metrics.write(w)
}

// count counts the requests to etcd from now on. kinds returns the kinds that are served.
func (e *engine) count(kinds func() []kind.Kind, prefix string) {
	begin := "/" + strings.Trim(prefix, "/") + "/"
	e.client.KV = countedKV{e.client.KV, func(operation string, key string, took time.Duration, err error) {
		e.metrics.observe(kinds(), operation, strings.TrimPrefix(key, begin), took, err)
	}}
}

// observer gets each request to etcd: what it does, its key, its time and its error.
type observer func(operation, key string, took time.Duration, err error)

// countedKV passes the requests that package store/etcd makes to an observer, with the words of
// a real API server (upstream: apiserver, storage/etcd3/metrics).
type countedKV struct {
	clientv3.KV
	observe observer
}

// Get reads a key, or several.
func (c countedKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	operation := "get"
	if op := clientv3.OpGet(key, opts...); len(op.RangeBytes()) > 0 {
		operation = "list"
	}
	began := time.Now()
	r, err := c.KV.Get(ctx, key, opts...)
	c.observe(operation, key, time.Since(began), err)
	return r, err
}

// Txn begins a transaction.
func (c countedKV) Txn(ctx context.Context) clientv3.Txn {
	return &countedTxn{txn: c.KV.Txn(ctx), observe: c.observe}
}

// countedTxn is a transaction that is counted by its first operation.
type countedTxn struct {
	txn            clientv3.Txn
	observe        observer
	creates        bool
	operation, key string
}

// If sets the conditions.
func (t *countedTxn) If(all ...clientv3.Cmp) clientv3.Txn {
	for _, c := range all {
		t.creates = t.creates || c.GetCompare().GetTarget() == etcdserverpb.Compare_MOD && c.GetCompare().GetModRevision() == 0
	}
	t.txn = t.txn.If(all...)
	return t
}

// Then sets the operations if the conditions hold.
func (t *countedTxn) Then(all ...clientv3.Op) clientv3.Txn {
	for _, op := range all[:min(len(all), 1)] {
		t.key = string(op.KeyBytes())
		switch {
		case op.IsDelete():
			t.operation = "delete"
		case op.IsPut() && t.creates:
			t.operation = "create"
		case op.IsPut():
			t.operation = "update"
		default:
			t.operation = "get"
		}
	}
	t.txn = t.txn.Then(all...)
	return t
}

// Else sets the operations if the conditions do not hold.
func (t *countedTxn) Else(all ...clientv3.Op) clientv3.Txn {
	t.txn = t.txn.Else(all...)
	return t
}

// Commit sends the transaction.
func (t *countedTxn) Commit() (*clientv3.TxnResponse, error) {
	began := time.Now()
	r, err := t.txn.Commit()
	t.observe(t.operation, t.key, time.Since(began), err)
	return r, err
}
