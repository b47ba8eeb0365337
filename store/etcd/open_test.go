package etcd

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/etcd/member"
	"github.com/kubecoord/kubecoord/store/meta"
)

// opens opens a store and closes it.
func opens(t *testing.T, c clientv3.Config, prefix string, o Options) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	st, err := Open(ctx, c, prefix, o)
	if err == nil {
		st.Close()
	}
	return err
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	nobody := freeURL()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	require.NoError(t, err)
	t.Cleanup(func() { silent.Close() })
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for name, tt := range map[string]struct {
		config clientv3.Config
		prefix string
		o      Options
		want   []string
	}{
		"no endpoints":       {clientv3.Config{}, "", Options{}, []string{"no endpoints", "https://10.0.0.1:2379"}},
		"nobody there":       {clientv3.Config{Endpoints: []string{nobody}}, "", Options{}, []string{nobody, "connection refused", "is etcd running there?"}},
		"no answer":          {clientv3.Config{Endpoints: []string{silent.Addr().String()}}, "", Options{}, []string{silent.Addr().String(), "is it reachable"}},
		"plain to TLS":       {clientv3.Config{Endpoints: []string{"http://" + secure.Listener.Addr().String()}}, "", Options{}, []string{"use https://"}},
		"TLS to plain":       {clientv3.Config{Endpoints: []string{strings.Replace(sharedURL, "http", "https", 1)}, TLS: &tls.Config{}}, "", Options{}, []string{"use http://"}},
		"an unknown CA":      {clientv3.Config{Endpoints: []string{secure.URL}, TLS: &tls.Config{}}, "", Options{}, []string{"x509", "give the CA"}},
		"the root as prefix": {clientv3.Config{Endpoints: []string{sharedURL}}, "/", Options{}, []string{"root of all keys", DefaultPrefix}},
		"a quota":            {clientv3.Config{Endpoints: []string{sharedURL}}, prefixOf(t), Options{Store: store.Options{Quota: 1}}, []string{"Quota"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := opens(t, tt.config, tt.prefix, tt.o)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestOpenNeedsOneEndpointThatAnswers(t *testing.T) {
	require.NoError(t, opens(t, clientv3.Config{Endpoints: []string{freeURL(), sharedURL}}, prefixOf(t), Options{}))
}

func TestOpenRefusesMembersOfDifferentClusters(t *testing.T) {
	url := freeURL()
	m, err := member.Start(t.Context(), t.TempDir(), member.Options{ClientURL: url})
	require.NoError(t, err)
	defer m.Close()
	assert.ErrorContains(t, opens(t, clientv3.Config{Endpoints: []string{url, sharedURL}}, "", Options{}), "different clusters")
}

func TestOpenRefusesAPrefixOfOthers(t *testing.T) {
	prefix := prefixOf(t)
	_, err := shared.Client().Put(t.Context(), prefix+"leases/default/a", "x")
	require.NoError(t, err)
	err = opens(t, clientv3.Config{Endpoints: []string{sharedURL}}, prefix+"leases", Options{})
	require.ErrorContains(t, err, "there are default, and none of leases, leasecandidates, services/endpoints")
	assert.ErrorContains(t, err, DefaultPrefix)
}

func TestOpenWithUsers(t *testing.T) {
	url := freeURL()
	m, err := member.Start(t.Context(), t.TempDir(), member.Options{ClientURL: url})
	require.NoError(t, err)
	defer m.Close()
	c, ctx := m.Client(), t.Context()
	for _, user := range []string{"root", "reader"} {
		_, err = c.UserAdd(ctx, user, "secret")
		require.NoError(t, err)
		_, err = c.RoleAdd(ctx, user)
		require.NoError(t, err)
		_, err = c.UserGrantRole(ctx, user, user)
		require.NoError(t, err)
	}
	end := clientv3.GetPrefixRangeEnd("/registry/")
	_, err = c.RoleGrantPermission(ctx, "reader", "/registry/", end, clientv3.PermissionType(clientv3.PermRead))
	require.NoError(t, err)
	_, err = c.AuthEnable(ctx)
	require.NoError(t, err)
	as := func(user, password string) clientv3.Config {
		return clientv3.Config{Endpoints: []string{url}, Username: user, Password: password}
	}
	assert.NoError(t, opens(t, as("root", "secret"), "", Options{}))
	assert.ErrorContains(t, opens(t, as("root", "wrong"), "", Options{}), "the user or the password is wrong")
	assert.ErrorContains(t, opens(t, as("", ""), "", Options{}), "etcd wants a user")
	err = opens(t, as("reader", "secret"), "", Options{})
	assert.ErrorContains(t, err, "write keys below /registry/")
	assert.ErrorContains(t, err, "readwrite permission")
	assert.ErrorContains(t, opens(t, as("reader", "secret"), "/elsewhere", Options{}), "read keys below /elsewhere/")
}

func TestSupportedVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"3.3.27": false, "3.4.30": false, "3.4.31": true, "3.5.0": false, "3.5.12": false, "3.5.13": true, "3.5.13-rc.1": true,
		"3.6.0": true, "3.7.3": true, "4.0.0": true, "": false, "unknown": false,
	} {
		assert.Equal(t, want, supported(version), version)
	}
}

func TestWritesWithoutSpaceAreRefusedWithTheTextOfEtcd(t *testing.T) {
	m, err := member.Start(t.Context(), t.TempDir(), member.Options{Configure: func(c *embed.Config) { c.QuotaBackendBytes = 1 << 20 }})
	require.NoError(t, err)
	defer m.Close()
	open := func() *store.Store {
		st, err := OpenClient(t.Context(), m.Client(), "", Options{})
		require.NoError(t, err)
		return st
	}
	st := open()
	l := &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	_, err = lease.In(st).Create(t.Context(), l, store.CreateOptions{})
	require.NoError(t, err)
	// etcd sees its size only after a while.
	for i := 0; err == nil && i < 10_000; i++ {
		_, err = m.Client().Put(t.Context(), "/elsewhere", strings.Repeat("x", 100<<10))
	}
	require.ErrorContains(t, err, "space")
	l.Name = "b"
	_, err = lease.In(st).Create(t.Context(), l, store.CreateOptions{})
	require.ErrorContains(t, err, "etcdserver: mvcc: database space exceeded")
	st.Close()
	st = open() // reads and deletions go on
	defer st.Close()
	_, err = lease.In(st).Get(t.Context(), "default", "a")
	require.NoError(t, err)
	_, err = lease.In(st).Delete(t.Context(), "default", "a", store.DeleteOptions{})
	require.NoError(t, err)
}

func TestCloseEndsEveryGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		require.NoError(t, opens(t, clientv3.Config{Endpoints: []string{sharedURL}}, prefixOf(t), Options{}))
	}
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, time.Minute, 10*time.Millisecond,
		"the goroutines of the server end a little later")
}
