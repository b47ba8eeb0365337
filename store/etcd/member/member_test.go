package member_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/store/etcd/member"
)

func start(t *testing.T, dir string, o member.Options) *member.Member {
	t.Helper()
	m, err := member.Start(t.Context(), dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	return m
}

func refuses(t *testing.T, dir string, o member.Options) error {
	t.Helper()
	m, err := member.Start(t.Context(), dir, o)
	if err == nil {
		m.Close()
	}
	require.ErrorContains(t, err, dir)
	return err
}

func put(t *testing.T, m *member.Member, key string) {
	t.Helper()
	_, err := m.Client().Put(t.Context(), key, "x")
	require.NoError(t, err)
}

func count(t *testing.T, c *clientv3.Client) int64 {
	t.Helper()
	r, err := c.Get(t.Context(), "/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	require.NoError(t, err)
	return r.Count
}

func TestDataOutlivesTheMember(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	m := start(t, dir, member.Options{})
	put(t, m, "/a")
	assert.NoError(t, m.Close())
	assert.NoError(t, m.Close(), "again")
	assert.EqualValues(t, 1, count(t, start(t, dir, member.Options{}).Client()))
}

// A process that is killed as it makes the database leaves an empty file.
func TestAStartThatWasKilledGoesOn(t *testing.T) {
	dir := t.TempDir()
	snap := filepath.Join(dir, "member", "snap")
	require.NoError(t, os.MkdirAll(snap, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(snap, "db"), nil, 0o600))
	put(t, start(t, dir, member.Options{}), "/a")
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Run("a directory in use", func(t *testing.T) {
		dir := t.TempDir()
		m := start(t, dir, member.Options{})
		assert.ErrorContains(t, refuses(t, dir, member.Options{}), "another process uses it: stop that one, or give another directory")
		put(t, m, "/a")
	})
	t.Run("a directory in use by etcd itself", func(t *testing.T) {
		dir := t.TempDir()
		start(t, dir, member.Options{})
		require.NoError(t, os.Remove(filepath.Join(dir, "kubecoord.lock")))
		assert.ErrorContains(t, refuses(t, dir, member.Options{}), "another process uses it")
	})
	t.Run("a newer version", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, start(t, dir, member.Options{}).Close())
		db, err := bolt.Open(filepath.Join(dir, "member", "snap", "db"), 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("cluster")).Put([]byte("clusterVersion"), []byte("9.9.0"))
		}))
		require.NoError(t, db.Close())
		assert.ErrorContains(t, refuses(t, dir, member.Options{}), "newer version of etcd")
	})
	t.Run("damaged files", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, start(t, dir, member.Options{}).Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, "member", "snap", "db"), make([]byte, 1<<16), 0o600))
		assert.ErrorContains(t, refuses(t, dir, member.Options{}), "damaged")
	})
	t.Run("a file in its place", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		assert.ErrorContains(t, refuses(t, file, member.Options{}), "not a directory")
	})
	t.Run("no permission", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may do all")
		}
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, 0o500))
		assert.ErrorContains(t, refuses(t, dir, member.Options{}), "0700")
	})
	t.Run("a broken URL", func(t *testing.T) {
		assert.ErrorContains(t, refuses(t, t.TempDir(), member.Options{ClientURL: "http://a b"}), "the client URL")
		assert.ErrorContains(t, refuses(t, t.TempDir(), member.Options{PeerURL: "http://a b"}), "the peer URL")
	})
	t.Run("an address in use", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		assert.ErrorContains(t, refuses(t, t.TempDir(), member.Options{ClientURL: "http://" + l.Addr().String()}), "address already in use")
	})
}

func TestAFullDiskFailsTheMember(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=150m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot make a small disk: %s", out)
	}
	t.Cleanup(func() { assert.NoError(t, exec.Command("umount", "-l", dir).Run()) })
	full := filepath.Join(dir, "full")
	require.NoError(t, os.WriteFile(full, make([]byte, 140<<20), 0o600))
	assert.ErrorContains(t, refuses(t, filepath.Join(dir, "data"), member.Options{}), "the disk is full")
	require.NoError(t, os.Remove(full))
	// In another directory: etcd in this process still has the first one open.
	m, err := member.Start(t.Context(), filepath.Join(dir, "other"), member.Options{})
	require.NoError(t, err)
	for i := 0; m.Err() == nil && i < 1000; i++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, _ = m.Client().Put(ctx, fmt.Sprint("/", i), strings.Repeat("x", 1<<20))
		cancel()
	}
	<-m.Failed()
	require.ErrorContains(t, m.Err(), "no space left on device")
	require.ErrorContains(t, m.Close(), "no space left on device")
}

// freeURL returns a URL of this machine where nobody listens. Systems give no port below 32768 to connections and to listeners at port 0,
// so nobody gets it before it is used.
func freeURL(t *testing.T) string {
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(22_000))); err == nil {
			defer l.Close()
			return "http://" + l.Addr().String()
		}
	}
	require.Fail(t, "no port is free")
	return ""
}

func TestOneMemberGrowsToThree(t *testing.T) {
	dir := t.TempDir()
	m := start(t, dir, member.Options{})
	put(t, m, "/a")
	require.NoError(t, m.Close())

	first := start(t, dir, member.Options{PeerURL: freeURL(t), ClientURL: freeURL(t)})
	list, err := first.Client().MemberList(t.Context())
	require.NoError(t, err)
	members := []*member.Member{first}
	for _, name := range []string{"b", "c"} {
		members = append(members, start(t, t.TempDir(), member.Options{Name: name, PeerURL: freeURL(t), Join: list.Members[0].ClientURLs}))
	}
	for _, m := range members {
		assert.EqualValues(t, 1, count(t, m.Client()))
	}
	// Any one of three may go.
	require.NoError(t, first.Close())
	put(t, members[1], "/b")
	assert.EqualValues(t, 2, count(t, members[2].Client()))
}

func TestAForcedClusterThatWasInterrupted(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, member.Options{PeerURL: freeURL(t), ClientURL: freeURL(t)})
	list, err := first.Client().MemberList(t.Context())
	require.NoError(t, err)
	other := start(t, t.TempDir(), member.Options{PeerURL: freeURL(t), Join: list.Members[0].ClientURLs})
	put(t, other, "/a")
	assert.EqualValues(t, 1, count(t, first.Client()))
	require.NoError(t, other.Close())
	require.NoError(t, first.Close())

	// Between the two renames.
	require.NoError(t, os.Rename(filepath.Join(dir, "member"), filepath.Join(dir, "member.before-1")))
	assert.ErrorContains(t, refuses(t, dir, member.Options{}), "ForceNewCluster was interrupted: call it again")
	forced, err := member.ForceNewCluster(t.Context(), dir, member.Options{})
	require.NoError(t, err)
	assert.DirExists(t, forced.Before)
	assert.NoDirExists(t, filepath.Join(dir, "force-new-cluster"))
	alone := start(t, dir, member.Options{})
	assert.EqualValues(t, 1, count(t, alone.Client()))
	now, err := alone.Client().Put(t.Context(), "/b", "x")
	require.NoError(t, err)
	assert.Equal(t, forced.FirstRevision+1, now.Header.Revision)
}
