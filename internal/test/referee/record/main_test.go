package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

const kinds = `lease
  $type    "apiVersion":"coordination.k8s.io/v1","kind":"Lease"
  $all     /apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases
  $Kind    Lease
  $plural  leases
  $version coordination.k8s.io/v1
`

const requests = `about a write that a watch sees
kinds lease

w = GET $all?watch=true
POST $all {$type,"metadata":{"name":"a"},"spec":{"holderIdentity":"x"}}
collect w 1
`

const answered = `about a write that a watch sees
kinds lease

w = GET $all?watch=true
  200
POST $all {$type,"metadata":{"name":"a"},"spec":{"holderIdentity":"x"}}
  201 sent {uid1} {rv1} by conformance Update spec{holderIdentity}
collect w 1
  ADDED @rv1
`

func TestRecordFillsInTheAnswers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lease-a.txt")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kinds.txt"), []byte(kinds), 0o600))
	require.NoError(t, os.WriteFile(path, []byte(requests), 0o600))
	o := options{server: newServer(t), dir: dir}

	same, err := run(t.Context(), o)
	require.NoError(t, err)
	assert.False(t, same)
	assert.Equal(t, requests, read(t, path), "without -write nothing is stored")

	o.write = true
	same, err = run(t.Context(), o)
	require.NoError(t, err)
	assert.True(t, same)
	assert.Equal(t, answered, read(t, path))

	o.write = false
	same, err = run(t.Context(), o)
	require.NoError(t, err)
	assert.True(t, same)
}

func TestRecordRunsOnlyTheSelectedScenarios(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kinds.txt"), []byte(kinds), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lease-a.txt"), []byte(strings.Replace(answered, "201", "409", 1)), 0o600))
	same, err := run(t.Context(), options{server: newServer(t), dir: dir, scenarios: "^other"})
	require.NoError(t, err)
	assert.True(t, same)
}

func TestRecordNeedsAServer(t *testing.T) {
	t.Setenv("KUBE_APISERVER", "")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kinds.txt"), nil, 0o600))
	_, err := run(t.Context(), options{dir: dir})
	assert.EqualError(t, err, "give -server, or name a binary of kube-apiserver in KUBE_APISERVER")
}

// newServer returns the URL of a kubecoord.
func newServer(t *testing.T) string {
	t.Helper()
	st := store.New(store.Options{})
	t.Cleanup(func() { st.Close() })
	api := httpapi.New(st, httpapi.Options{})
	t.Cleanup(func() { api.Close() })
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return server.URL
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
