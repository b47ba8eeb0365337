package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Options configures a store on etcd. The zero value is ready for use.
type Options struct {
	// Store are the options of the store. Those that belong to a store in memory must be
	// zero: Quota, FirstResourceVersion, Clock and Seed. etcd counts revisions and has a quota
	// of its own.
	Store store.Options
	// CompactionInterval is how often one of the replicas, and of the API servers on the
	// same etcd, drops history that is older than the interval before. Zero means 5 minutes,
	// as in a real API server. A negative interval means never: then somebody else must do
	// it, or etcd fills up.
	//
	// While there are more than 100,000 changes a minute, the interval is one minute.
	CompactionInterval time.Duration
	// Log gets the events of the background: contact that is lost and found, compactions
	// that fail. Nil means nothing.
	Log *slog.Logger
}

// Open connects to etcd and returns a store whose objects are there, below a prefix. An
// empty prefix means DefaultPrefix. The store holds Leases, LeaseCandidates and Endpoints,
// and these kinds. Close of the store also ends the connection.
//
// Open waits until the store can be read, or ctx ends. An error says what is wrong and what
// to do; it is the same for each of the replicas.
func Open(ctx context.Context, c clientv3.Config, prefix string, o Options, kinds ...kind.Kind) (*store.Store, error) {
	client, err := Dial(c)
	if err != nil {
		return nil, err
	}
	return open(ctx, client, sync.OnceFunc(func() { client.Close() }), prefix, o, kinds)
}

// OpenClient is like Open, with a client of the caller, who closes it after the store. The
// client of a member.Member needs no connection.
func OpenClient(ctx context.Context, client *clientv3.Client, prefix string, o Options, kinds ...kind.Kind) (*store.Store, error) {
	return open(ctx, client, func() {}, prefix, o, kinds)
}

func open(ctx context.Context, client *clientv3.Client, closing func(), prefix string, o Options, others []kind.Kind) (_ *store.Store, err error) {
	clean, err := cleanPrefix(prefix)
	if err != nil {
		closing()
		return nil, err
	}
	all := append([]kind.Kind{lease.Kind(), candidate.Kind(), endpoints.Kind()}, others...)
	e := newEtcd(client, clean, o)
	e.closing = closing
	defer func() {
		if err != nil {
			e.close() // Follow may have done it, or was never called
		}
	}()
	if err := e.check(ctx, all); err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, o.Store, e, all...)
	if err != nil && err == ctx.Err() {
		err = e.notLoaded(err)
	}
	return st, err
}

// notLoaded returns the error of a store that cannot be read.
func (e *etcd) notLoaded(err error) error {
	return explain("etcd: load the objects below "+e.prefix, err)
}

// Dial returns a client for etcd that finds a dead connection in 15 seconds, as far as c
// does not say otherwise, and that logs nothing. It does not wait for etcd. The caller must
// close it.
func Dial(c clientv3.Config) (*clientv3.Client, error) {
	if len(c.Endpoints) == 0 {
		return nil, errors.New("etcd: no endpoints: give the client URLs of the members of etcd, such as https://10.0.0.1:2379")
	}
	if c.Logger == nil && c.LogConfig == nil {
		c.Logger = zap.NewNop()
	}
	if c.DialKeepAliveTime == 0 {
		c.DialKeepAliveTime, c.DialKeepAliveTimeout = 10*time.Second, 5*time.Second
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = 20 * time.Second // as a real API server
	}
	// After a minute without etcd, gRPC itself would wait for up to two minutes before it
	// connects again.
	c.DialOptions = append([]grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
		MinConnectTimeout: c.DialTimeout,
	})}, c.DialOptions...)
	client, err := clientv3.New(c)
	if err != nil {
		return nil, explain(fmt.Sprintf("etcd: connect to %s", strings.Join(c.Endpoints, ", ")), err)
	}
	return client, nil
}

// cleanPrefix returns a prefix as a real API server uses it, with a slash at both ends.
func cleanPrefix(prefix string) (string, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	clean := path.Join("/", prefix)
	if clean == "/" {
		return "", fmt.Errorf("etcd: the prefix %q is the root of all keys: give one of your own, such as %s", prefix, DefaultPrefix)
	}
	return clean + "/", nil
}

// DefaultPrefix is the prefix of keys where none is given, as of a real API server.
const DefaultPrefix = "/registry"
