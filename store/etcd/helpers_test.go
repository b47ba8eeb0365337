package etcd

import (
	"context"
	"fmt"
	"iter"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/etcd/member"
)

// shared is the one member of etcd of this package. Each test has a prefix of its own.
var shared *member.Member

// sharedURL is where it listens.
var sharedURL string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sharedURL = freeURL()
	shared, err = member.Start(context.Background(), dir, member.Options{ClientURL: sharedURL})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()
	return m.Run()
}

// freeURL returns a URL of this machine where nobody listens. Systems give no port below 32768 to connections and to listeners at port 0,
// so nobody gets it before it is used.
func freeURL() string {
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(22_000))); err == nil {
			defer l.Close()
			return "http://" + l.Addr().String()
		}
	}
	log.Fatal("no port is free")
	return ""
}

func dial(t testing.TB, urls ...string) *clientv3.Client {
	t.Helper()
	c, err := Dial(clientv3.Config{Endpoints: urls, Logger: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// prefixOf returns the prefix of a test. What is below it goes with the test.
func prefixOf(t testing.TB) string {
	prefix := "/" + t.Name() + "/"
	t.Cleanup(func() {
		_, err := shared.Client().Delete(context.Background(), prefix, clientv3.WithPrefix())
		require.NoError(t, err)
	})
	return prefix
}

// recording is a backend.Follower. It writes one line for each call.
type recording struct {
	mu      sync.Mutex
	lines   []string
	state   map[string]string
	reached uint64
	news    chan struct{} // has room for one
	fail    error         // of Changed
}

func newRecording() *recording { return &recording{news: make(chan struct{}, 1)} }

func (r *recording) add(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func (r *recording) Load(all iter.Seq[backend.Stored], version uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.reached = map[string]string{}, version
	for s := range all {
		r.state[s.Key] = string(s.Value)
	}
	r.add("load %d", len(r.state))
	return nil
}

func (r *recording) Changed(version uint64, changes []backend.Stored) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := "changed"
	for _, c := range changes {
		if c.Version != version {
			return fmt.Errorf("%s has version %d in a change of %d", c.Key, c.Version, version)
		}
		if c.Value == nil {
			delete(r.state, c.Key)
			line += " -" + c.Key
		} else {
			r.state[c.Key] = string(c.Value)
			line += " " + c.Key + "=" + string(c.Value)
		}
	}
	if version <= r.reached {
		return fmt.Errorf("change %d after %d", version, r.reached)
	}
	r.reached = version
	r.add("%s", line)
	return r.fail
}

func (r *recording) Reached(version uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached = version
	r.add("reached")
}

func (r *recording) Contact(ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add("contact %t", ok)
}

// until waits until the recording fulfills a condition.
func (r *recording) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		r.mu.Lock()
		done := ok()
		lines := slices.Clone(r.lines)
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-r.news:
		case <-timeout:
			require.Fail(t, "no "+what, "%q", lines)
		}
	}
}

func (r *recording) untilLine(t testing.TB, line string) {
	t.Helper()
	r.until(t, line, func() bool { return slices.Contains(r.lines, line) })
}

func (r *recording) untilReached(t testing.TB, version uint64) {
	t.Helper()
	r.until(t, fmt.Sprint("version ", version), func() bool { return r.reached >= version })
}

// follow runs Follow until the test ends.
func follow(t testing.TB, e *etcd, history int) *recording {
	t.Helper()
	r := newRecording()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Follow(ctx, history, r) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
	r.untilLine(t, "contact true")
	return r
}

func put(t testing.TB, e *etcd, key, value string, expect uint64) uint64 {
	t.Helper()
	c, err := e.Commit(t.Context(), backend.Write{Key: key, Value: []byte(value), Expect: expect})
	require.NoError(t, err)
	require.True(t, c.Done, "%+v", c)
	return c.Version
}
