// Package member runs a member of etcd in this process, with its data in a directory. So a
// program is durable on one machine without another process:
//
//	m, err := member.Start(ctx, dir, member.Options{})
//	…
//	defer m.Close()
//	st, err := etcd.OpenClient(ctx, m.Client(), "/registry", etcd.Options{})
//
// A write is answered when it is on the disk (fsync). Without URLs in the Options nobody
// else reaches the member, and there is no listener.
//
// # From one member to three
//
// Start the first member with Options.PeerURL and Options.ClientURL, which other members
// reach. Start each new one elsewhere, in an empty directory, with Options.Join. It joins as
// a learner, which does not count for the quorum, and becomes a voter when it has caught up.
// A start that was interrupted goes on where it was. A member may be started with another
// PeerURL than before.
//
// If a majority is lost for good, ForceNewCluster makes a cluster of one member from the data
// of a survivor.
//
// The package is apart from package etcd because it brings etcd's server: a program that
// uses only the client is 13 MB smaller.
package member

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
)

// Options configures a member. The zero value is a member that is alone, and that only this
// process reaches.
type Options struct {
	// Name of the member in its cluster. Empty means "default".
	Name string
	// ClientURL is where etcdctl and other replicas reach the member, such as
	// http://127.0.0.1:2379. Empty means nowhere.
	ClientURL string
	// PeerURL is where other members reach this one, such as https://10.0.0.1:2380. Empty
	// means nowhere.
	PeerURL string
	// Join are client URLs of members of the cluster that a new member joins. Once the
	// directory has data, Start only checks that it belongs to that cluster. Nil means a
	// cluster of its own. The certificate of ClientTLSInfo is used for these URLs:
	// see Configure.
	Join []string
	// Quota bounds the bytes of the database. Above it, writes fail with NOSPACE. Zero means
	// etcd's default of 2 GiB.
	Quota int64
	// Configure, if not nil, may change all else before the member starts, such as
	// certificates in ClientTLSInfo and PeerTLSInfo.
	Configure func(*embed.Config)
	// Waiting, if not nil, is called by Start every second or two while it waits, with the
	// reason. The same state has the same reason.
	Waiting func(reason string)
	// Log, if not nil, gets etcd's own log.
	Log zapcore.Core
}

func (o *Options) waiting(reason string) {
	if o.Waiting != nil {
		o.Waiting(reason)
	}
}

// Member is a running member of etcd.
type Member struct {
	etcd   *embed.Etcd
	client *clientv3.Client
	lock   *fileutil.LockedFile
	// joining is set if this start added the member to a cluster. Until the log comes, etcd
	// does not know that it is a learner.
	joining bool

	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	watching sync.WaitGroup

	failed  chan struct{} // closed after the first failure
	failure error
	fail    sync.Once
	closing sync.Once
	err     error // of Close
}

// lockFile is locked while a member runs on the directory.
const lockFile = "kubecoord.lock"

// Start starts a member on a directory, which is made if it is missing, and waits until it
// answers: until its cluster has a leader, and, if it joins one, until it is a voter. The
// errors say what is wrong with the directory and what to do.
func Start(ctx context.Context, dir string, o Options) (*Member, error) {
	m := newMember()
	if err := m.start(ctx, dir, o); err != nil {
		m.cancel()
		m.release()
		return nil, explain(dir, err)
	}
	m.watching.Go(m.watch)
	return m, nil
}

func newMember() *Member {
	m := &Member{failed: make(chan struct{})}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

func (m *Member) start(ctx context.Context, dir string, o Options) error {
	if err := m.lockDirectory(dir); err != nil {
		return err
	}
	c, err := m.config(dir, o)
	if err != nil {
		return err
	}
	switch {
	case wal.Exist(walDir(dir)):
		err = m.startEtcd(c)
	case len(setAside(dir)) > 0:
		err = errInterrupted
	case o.Join != nil:
		err = m.joinAndStart(ctx, c, o)
	default:
		err = m.startEtcd(c)
	}
	if err != nil {
		return err
	}
	err = m.serve(ctx, c, o)
	if err != nil && m.Err() == nil {
		m.stop()
	}
	return err
}

// serve waits until the member answers.
func (m *Member) serve(ctx context.Context, c *embed.Config, o Options) error {
	if err := m.checkJoined(ctx, c, o); err != nil {
		return err
	}
	if err := m.waitReady(ctx, c, o); err != nil {
		return err
	}
	m.client = v3client.New(m.etcd.Server)
	if err := m.promote(ctx, o); err != nil {
		return err
	}
	return m.movePeerURL(ctx, o.PeerURL)
}

// startEtcd starts etcd, which opens its files and listens.
func (m *Member) startEtcd(c *embed.Config) (err error) {
	started := make(chan error, 1)
	go func() {
		err := errStopped // where etcd ends the goroutine
		defer func() { started <- err }()
		m.etcd, err = embed.StartEtcd(c)
	}()
	err = <-started
	if errors.Is(err, errStopped) {
		<-m.failed
		err = m.failure
	}
	return err
}

var errStopped = errors.New("etcd stopped")

// watch fails the member when etcd stops by itself.
func (m *Member) watch() {
	select {
	case <-m.etcd.Server.StopNotify():
		if m.ctx.Err() == nil {
			m.fails(errRemoved)
		}
	case <-m.ctx.Done():
	}
}

// errRemoved is why etcd stops by itself.
var errRemoved = errors.New("this member was removed from its cluster")

// lockDirectory makes the directory and takes it for this process. etcd itself would wait
// for another process for ever.
func (m *Member) lockDirectory(dir string) error {
	if err := os.MkdirAll(dir, fileutil.PrivateDirMode); err != nil {
		return err
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, lockFile), os.O_WRONLY|os.O_CREATE, fileutil.PrivateFileMode)
	if err != nil {
		return err
	}
	m.lock = lock
	// An etcd that is not ours holds this one. It is not a lock that fileutil knows.
	path := filepath.Join(dir, "member", "snap", "db")
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil // a start that is killed may leave an empty one, which cannot be opened to read
	}
	db, err := bolt.Open(path, fileutil.PrivateFileMode, &bolt.Options{ReadOnly: true, Timeout: 100 * time.Millisecond})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fileutil.ErrLocked
	}
	if err != nil {
		return err
	}
	return db.Close()
}

func (m *Member) config(dir string, o Options) (*embed.Config, error) {
	c := embed.NewConfig()
	c.Dir = dir
	if o.Name != "" {
		c.Name = o.Name
	}
	c.QuotaBackendBytes = o.Quota
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(m.logger(o.Log))
	c.ListenClientUrls, c.AdvertiseClientUrls, c.ListenPeerUrls = nil, nil, nil
	if o.ClientURL != "" {
		u, err := url.Parse(o.ClientURL)
		if err != nil {
			return nil, fmt.Errorf("the client URL %q: %w", o.ClientURL, err)
		}
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*u}, []url.URL{*u}
	}
	if o.PeerURL != "" {
		u, err := url.Parse(o.PeerURL)
		if err != nil {
			return nil, fmt.Errorf("the peer URL %q: %w", o.PeerURL, err)
		}
		c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*u}, []url.URL{*u}
	}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.InitialClusterToken = rand.Text() // clusters that began alike are not the same
	c.GRPCAdditionalServerOptions = append(c.GRPCAdditionalServerOptions, grpc.ChainStreamInterceptor(m.endStreams))
	if o.Configure != nil {
		o.Configure(c)
	}
	return c, nil
}

// movePeerURL changes the peer URL of this member in the cluster. etcd itself takes the
// URL of the first start.
func (m *Member) movePeerURL(ctx context.Context, peerURL string) error {
	if peerURL == "" {
		return nil
	}
	members, err := m.client.MemberList(ctx)
	if err != nil {
		return err
	}
	id := uint64(m.etcd.Server.MemberID())
	for _, member := range members.Members {
		if member.ID == id && !slices.Equal(member.PeerURLs, []string{peerURL}) {
			_, err := m.client.MemberUpdate(ctx, id, []string{peerURL})
			return err
		}
	}
	return nil
}

// Client returns a client of this member that needs no connection. It ends with the member;
// the caller must not close it.
func (m *Member) Client() *clientv3.Client { return m.client }

// Failed returns a channel that is closed when the member cannot go on, such as when the
// disk is full. Err then says why. The process should end: what it has confirmed is on the
// disk.
func (m *Member) Failed() <-chan struct{} { return m.failed }

// Err returns why the member failed, or nil.
func (m *Member) Err() error {
	select {
	case <-m.failed:
		return m.failure
	default:
		return nil
	}
}

// Close stops the member and ends its goroutines, unless it has failed. Requests of others
// get two seconds to end, and then an error; without a leader it takes no longer. It may be
// called more than once.
func (m *Member) Close() error {
	m.closing.Do(func() {
		if m.Err() == nil {
			m.stop()
		}
		m.err = m.Err()
		m.cancel()
		m.watching.Wait()
		m.release()
	})
	return m.err
}

func (m *Member) release() {
	if m.lock != nil {
		m.lock.Close()
	}
}

// explain says what to do about an error of a start.
func explain(dir string, err error) error {
	text, advice := err.Error(), ""
	switch {
	case errors.Is(err, fileutil.ErrLocked):
		err = errors.New("another process uses it")
		advice = "stop that one, or give another directory"
	case errors.Is(err, os.ErrPermission), strings.Contains(text, "permission denied"):
		advice = "give the user of this process the directory with mode 0700"
	case strings.Contains(text, "no space left on device"):
		advice = "the disk is full: make room; a member needs 128 MB at least for its log"
	case errors.Is(err, errRemoved):
		advice = "to join it again, move the directory away"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	case strings.Contains(text, "downgrade"), strings.Contains(text, "storage version"):
		advice = "a newer version of etcd wrote it: use that version, or restore a backup"
	case strings.Contains(text, "WAL"), strings.Contains(text, "database"), strings.Contains(text, "snapshot"):
		advice = "its files are damaged: restore a backup, or, where other members have the data, remove this member and add it again with an empty directory"
	}
	if advice == "" {
		return fmt.Errorf("member: directory %s: %w", dir, err)
	}
	return fmt.Errorf("member: directory %s: %w: %s", dir, err, advice)
}
