package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	electorsLease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/leader-election-controller"
	candidates    = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"
)

// startEtcd starts a server that is there for its member of etcd, and returns it with the URL
// of the member.
func startEtcd(t *testing.T, dir, url string) *process {
	t.Helper()
	return startServer(t, "-listen", "127.0.0.1:0", "-data-dir", dir, "-member-client-url", url, "-elect=false")
}

// Another server decides within the duration of the Lease of the electors when the one that
// decided is killed.
func TestOneReplicaDecidesAndAnotherGoesOn(t *testing.T) {
	t.Parallel()
	dir, url := filepath.Join(t.TempDir(), "data"), "http://"+freeAddress(t)
	watcher := plain(startEtcd(t, dir, url).url)
	one := startServer(t, "-listen", "127.0.0.1:0", "-etcd-endpoints", url)
	decider := func() string {
		code, text := watcher.do(t, "GET", electorsLease, "")
		if code != 200 {
			return ""
		}
		_, after, _ := strings.Cut(text, `"holderIdentity":"`)
		holder, _, _ := strings.Cut(after, `"`)
		return holder
	}
	require.Eventually(t, func() bool { return decider() != "" }, time.Minute, 10*time.Millisecond)
	first := decider()
	startServer(t, "-listen", "127.0.0.1:0", "-etcd-endpoints", url)
	offer := func(name, lease string) {
		watcher.must(t, "POST", candidates, `{"metadata":{"name":"`+name+`"},"spec":{"leaseName":"`+lease+
			`","binaryVersion":"1.37.0","emulationVersion":"1.37.0","strategy":"OldestEmulationVersion","renewTime":"`+
			time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
	}
	elected := func(lease string) bool {
		code, text := watcher.do(t, "GET", leases+"/"+lease, "")
		return code == 200 && strings.Contains(text, `"holderIdentity":"`)
	}
	offer("a", "main")
	require.Eventually(t, func() bool { return elected("main") }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, first, decider())

	one.kill()
	killed := time.Now()
	require.Eventually(t, func() bool { return decider() != first }, time.Minute, 10*time.Millisecond)
	t.Logf("another decides after %s, with a Lease of 15s", time.Since(killed))
	offer("b", "other")
	require.Eventually(t, func() bool { return elected("other") }, time.Minute, 10*time.Millisecond)
}

func TestHealthSaysThatEtcdIsGone(t *testing.T) {
	t.Parallel()
	dir, url := filepath.Join(t.TempDir(), "data"), "http://"+freeAddress(t)
	engine := startEtcd(t, dir, url)
	client := plain(startServer(t, "-listen", "127.0.0.1:0", "-etcd-endpoints", url).url)
	code, text := client.do(t, "GET", "/readyz?verbose", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\nreadyz check passed\n", text)
	client.must(t, "POST", leases, newLease("a"))

	engine.kill()
	code, text = client.do(t, "GET", "/livez", "")
	assert.Equal(t, 500, code)
	assert.Equal(t, "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nlivez check failed\n", text)
	code, text = client.do(t, "GET", "/readyz/etcd", "")
	assert.Equal(t, 500, code)
	assert.Contains(t, text, "internal server error: error getting data from etcd: ")
	code, _ = client.do(t, "GET", leases+"/a?resourceVersion=0", "")
	assert.Equal(t, 200, code, "what may be old is answered")

	startEtcd(t, dir, url)
	require.Eventually(t, func() bool {
		code, _ := client.do(t, "GET", "/readyz", "")
		return code == 200
	}, time.Minute, 100*time.Millisecond)
	client.must(t, "PATCH", leases+"/a", `{"spec":{"holderIdentity":"x"}}`)
}

// Of two members one is killed: the other has no quorum. Its watches must end, because they
// would miss what others see.
func TestWatchesEndWithoutAQuorum(t *testing.T) {
	t.Parallel()
	first := newMember(t, "one", "")
	first.start(t)
	one := plain(first.url)
	one.must(t, "POST", leases, newLease("a"))
	two := newMember(t, "two", first.clientURL)
	two.start(t)
	plain(two.url).must(t, "PATCH", leases+"/a", `{"spec":{"holderIdentity":"two"}}`)

	watch := one.open(t, "GET", leases+"?watch=true", "")
	defer watch.Body.Close()
	require.Equal(t, 200, watch.StatusCode)
	two.kill()
	killed := time.Now()
	events, err := io.ReadAll(watch.Body)
	require.NoError(t, err)
	t.Logf("the watch ended after %s", time.Since(killed))
	assert.NotContains(t, string(events), "ERROR")
	assert.Less(t, time.Since(killed), time.Minute)
	code, text := one.do(t, "GET", leases+"?watch=true&resourceVersion=0", "")
	assert.Equal(t, 429, code)
	assert.Contains(t, text, "storage is (re)initializing")
	code, _ = one.do(t, "GET", "/readyz", "")
	assert.Equal(t, 500, code)
	code, _ = one.do(t, "GET", leases+"/a?resourceVersion=0", "")
	assert.Equal(t, 200, code)

	two.start(t)
	require.Eventually(t, func() bool {
		code, _ := one.do(t, "GET", "/readyz", "")
		return code == 200
	}, time.Minute, 100*time.Millisecond)
	one.must(t, "PATCH", leases+"/a", `{"spec":{"holderIdentity":"one"}}`)
	again := one.open(t, "GET", leases+"?watch=true", "")
	defer again.Body.Close()
	assert.Equal(t, 200, again.StatusCode, "a server that is ready answers watches")
}
