package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKilledServerGoesOnWhereItWas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	args := []string{"-listen", freeAddress(t), "-data-dir", dir, "-tls", "-make-token"}
	p := startServer(t, args...)
	client := readKubeconfig(t, dir)
	require.Equal(t, p.url, client.url)
	before := client.must(t, "POST", leases, newLease("a"))
	seen := client.must(t, "POST", leases, newLease("b"))
	patched := client.must(t, "PATCH", leases+"/a", `{"spec":{"holderIdentity":"x"}}`)
	kept := map[string]string{}
	for _, name := range []string{"kubeconfig", "tls.crt", "tls.key", "tokens"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		kept[name] = string(data)
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(), name)
	}

	p.kill()
	startServer(t, args...)
	for name, data := range kept {
		now, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, data, string(now), name)
	}
	after := client.must(t, "GET", leases+"/a", "")
	assert.Equal(t, patched, after, "the kubeconfig of before works, and all is as it was confirmed")
	assert.Equal(t, before.Metadata.UID, after.Metadata.UID)

	// A watch goes on from a version of before, without a relist.
	watch := client.open(t, "GET", leases+"?watch=true&resourceVersion="+seen.Metadata.ResourceVersion, "")
	defer watch.Body.Close()
	require.Equal(t, 200, watch.StatusCode)
	events := json.NewDecoder(bufio.NewReader(watch.Body))
	next := func() (typ string, o object) {
		var event struct {
			Type   string
			Object object
		}
		require.NoError(t, events.Decode(&event))
		return event.Type, event.Object
	}
	typ, o := next()
	assert.Equal(t, "MODIFIED", typ)
	assert.Equal(t, patched, o)

	again := client.must(t, "PATCH", leases+"/a", `{"spec":{"holderIdentity":"y"}}`)
	assert.Greater(t, version(t, again), version(t, patched))
	typ, o = next()
	assert.Equal(t, "MODIFIED", typ)
	assert.Equal(t, again, o)

	client.token = "wrong"
	code, _ := client.do(t, "GET", leases, "")
	assert.Equal(t, 401, code)
}

func version(t *testing.T, o object) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(o.Metadata.ResourceVersion, 10, 64)
	require.NoError(t, err)
	return n
}

func TestCertificateThatDoesNotFitIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := startServer(t, "-listen", "127.0.0.1:0", "-data-dir", dir, "-tls")
	p.kill()
	text := refusal(t, "-listen", "127.0.0.2:0", "-data-dir", dir, "-tls")
	assert.Contains(t, text, "-tls: "+filepath.Join(dir, "tls.crt")+": x509: certificate is valid for 127.0.0.1, ::1, 127.0.0.1, not 127.0.0.2: remove it to get a new one")
}

func TestServerRefusesWhatCannotWork(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := startServer(t, "-listen", "127.0.0.1:0", "-data-dir", dir)
	alone := filepath.Join(t.TempDir(), "alone")
	startServer(t, "-listen", "127.0.0.1:0", "-data-dir", alone).kill()
	at := []string{"-listen", "127.0.0.1:0", "-data-dir", filepath.Join(t.TempDir(), "other")}
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"nothing to keep objects in": {[]string{"-listen", "127.0.0.1:0"}, "set -data-dir or -etcd-endpoints"},
		"both":                       {append(at, "-etcd-endpoints", "http://127.0.0.1:1"), "-data-dir and -etcd-endpoints: set one"},
		"a directory in use":         {[]string{"-listen", "127.0.0.1:0", "-data-dir", dir}, "another process uses it"},
		"-load":                      {append(at, "-load", "x"), "etcd gives the versions"},
		"-dump":                      {append(at, "-dump", "x"), "take a snapshot of etcd"},
		"-dump-every":                {append(at, "-dump-every", "1s"), "take a snapshot of etcd"},
		"-debug":                     {append(at, "-debug", "true"), "use examples/server"},
		"-clock":                     {append(at, "-clock", "2026-01-01T00:00:00Z"), "use examples/server for tests"},
		"a token that all can read":  {append(at, "-make-token"), "-make-token: needs HTTPS"},
		"two tokens":                 {append(at, "-tls", "-make-token", "-token-file", "x"), "-make-token and -token-file: set one"},
		"a quota elsewhere":          {[]string{"-etcd-endpoints", "http://127.0.0.1:1", "-quota-backend-bytes", "1"}, "-quota-backend-bytes: needs -data-dir"},
		"a member elsewhere":         {[]string{"-etcd-endpoints", "http://127.0.0.1:1", "-member-name", "x"}, "need -data-dir"},
		"an open member":             {append(at, "-member-client-url", "http://0.0.0.0:2379"), "other machines can reach it, and write all"},
		"an open peer":               {append(at, "-member-peer-url", "http://10.0.0.1:2380"), "other machines can reach it, and write all"},
		"a member by name":           {append(at, "-member-peer-url", "http://localhost:2380"), "want an IP address in it"},
		"a join without a peer":      {append(at, "-join", "http://127.0.0.1:1"), "-join: needs -member-peer-url"},
		"a join of a name":           {append(at, "-member-peer-url", "http://127.0.0.1:0", "-join", "a=http://127.0.0.1:1"), "-join: got"},
		"nothing to force":           {[]string{"-data-dir", filepath.Join(t.TempDir(), "empty"), "-force-new-cluster"}, "there is no data of a member"},
		"a member that is alone":     {[]string{"-listen", "127.0.0.1:0", "-data-dir", alone, "-force-new-cluster"}, "the member is alone already"},
		"a negative quota":           {append(at, "-quota-backend-bytes", "-5"), "-quota-backend-bytes -5: must not be negative"},
		"https without certificates": {append(at, "-member-peer-url", "https://127.0.0.1:0"), "https needs -etcd-cafile"},
		"a key without certificate":  {[]string{"-etcd-endpoints", "https://127.0.0.1:1", "-etcd-keyfile", "x"}, "must be set together"},
		"a missing CA":               {[]string{"-etcd-endpoints", "https://127.0.0.1:1", "-etcd-cafile", "/none"}, "-etcd-cafile, -etcd-certfile, -etcd-keyfile: open /none"},
		"nobody there":               {[]string{"-listen", "127.0.0.1:0", "-etcd-endpoints", "http://127.0.0.1:1"}, "no endpoint answers: http://127.0.0.1:1: "},
		"no prefix":                  {append(at, "-etcd-prefix", "/"), "the root of all keys"},
		"a negative interval":        {append(at, "-etcd-compaction-interval", "-1s"), "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, refusal(t, row.args...), row.want)
		})
	}
	code, _ := plain(p.url).do(t, "GET", "/readyz", "")
	assert.Equal(t, 200, code, "the server whose directory was asked for goes on")
}
