package main

import (
	"context"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/examples/internal/serve"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// metricsOf returns the source of the metrics of the server.
func (e *engine) metricsOf(api *httpapi.API, st *store.Store) serve.Source {
	return serve.Source{
		API:   func() *httpapi.API { return api },
		Store: func() *store.Store { return st },
		Size: func(ctx context.Context) (int64, error) {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			endpoint := "" // of the member in this process
			if all := e.client.Endpoints(); len(all) > 0 {
				endpoint = all[0]
			}
			s, err := e.client.Status(ctx, endpoint)
			if err != nil {
				return 0, err
			}
			return s.DbSize, nil
		},
	}
}

// count counts the requests to etcd from now on.
func (e *engine) count(front *serve.Front, prefix string) {
	begin := "/" + strings.Trim(prefix, "/") + "/"
	e.client.KV = countedKV{e.client.KV, func(operation string, key string, took time.Duration, err error) {
		front.Etcd(operation, strings.TrimPrefix(key, begin), took, err)
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
