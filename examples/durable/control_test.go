package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	kubecluster "github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
)

// replica is one of the API servers on an etcd.
type replica struct {
	t      *testing.T
	client http.Client
}

// newReplicas returns API servers that do all of cluster.Options, on one member of etcd.
func newReplicas(t *testing.T, n int) (all []*replica) {
	m, err := member.Start(t.Context(), t.TempDir(), member.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	bearers := httpapi.BearerTokens(map[string]httpapi.User{"jane": {Name: "jane"}})
	does := kubecluster.KubeAPIServer()
	does.RBAC, does.GarbageCollection, does.NamespaceDeletion = true, true, true
	for range n {
		options, err := does.API(httpapi.Options{
			Authenticate: func(r *http.Request) (httpapi.User, bool) {
				if r.Header.Get("Authorization") == "" {
					return httpapi.User{Name: "admin", Groups: []string{"system:masters"}}, true
				}
				return bearers(r)
			},
		})
		require.NoError(t, err)
		st, err := etcd.OpenClient(t.Context(), m.Client(), etcd.DefaultPrefix, etcd.Options{}, options.Kinds...)
		require.NoError(t, err)
		t.Cleanup(st.Close)
		api := httpapi.New(st, options)
		t.Cleanup(api.Close)
		all = append(all, &replica{t, http.Client{Transport: api.Transport()}})
	}
	return all
}

// do sends a request, as a user if the path ends with "#" and the name, and returns the status and the document of the answer.
func (r *replica) do(method, path, body string) (int, map[string]any) {
	path, user, _ := strings.Cut(path, "#")
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://replica"+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/yaml")
	if user != "" {
		req.Header.Set("Authorization", "Bearer "+user)
	}
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	doc := map[string]any{}
	require.NoError(r.t, json.Unmarshal(data, &doc), "%s", data)
	return resp.StatusCode, doc
}

func (r *replica) create(path, body string) map[string]any {
	r.t.Helper()
	code, doc := r.do(http.MethodPost, path, body)
	require.Equal(r.t, http.StatusCreated, code, "%v", doc["message"])
	return doc
}

// until repeats a request until it has a status: what one replica writes the others see a moment later.
func (r *replica) until(want int, method, path, body string) map[string]any {
	r.t.Helper()
	var doc map[string]any
	require.Eventually(r.t, func() bool {
		var code int
		code, doc = r.do(method, path, body)
		return code == want
	}, time.Minute, 10*time.Millisecond, "%s %s", method, path)
	return doc
}

// names returns the names and uids of a list.
func (r *replica) names(path string) (names []string, uids map[string]string) {
	_, doc := r.do(http.MethodGet, path, "")
	items, _ := doc["items"].([]any)
	uids = map[string]string{}
	for _, item := range items {
		m, _ := item.(map[string]any)["metadata"].(map[string]any)
		name, _ := m["name"].(string)
		names = append(names, name)
		uids[name], _ = m["uid"].(string)
	}
	return names, uids
}

func TestReplicasDoWhatAClusterDoes(t *testing.T) {
	replicas := newReplicas(t, 2)
	a, b := replicas[0], replicas[1]
	const configMaps = "/api/v1/namespaces/default/configmaps"
	configMap := func(name string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}"
	}

	names, uids := b.names("/api/v1/namespaces")
	assert.Equal(t, []string{"default", "kube-node-lease", "kube-public", "kube-system"}, names)
	_, others := a.names("/api/v1/namespaces")
	assert.Equal(t, uids, others, "each was made once")
	code, doc := b.do(http.MethodPost, "/api/v1/namespaces/absent/configmaps", configMap("x"))
	assert.Equal(t, http.StatusNotFound, code)
	assert.Equal(t, `namespaces "absent" not found`, doc["message"])

	// RBAC
	code, _ = b.do(http.MethodGet, configMaps+"#jane", "")
	assert.Equal(t, http.StatusForbidden, code)
	a.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: jane},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]}`)
	b.until(http.StatusOK, http.MethodGet, configMaps+"#jane", "")

	// The garbage collector
	owner := a.create(configMaps, configMap("owner"))["metadata"].(map[string]any)
	reference := "{apiVersion: v1, kind: ConfigMap, name: owner, uid: " + owner["uid"].(string) + "}"
	b.create(configMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, ownerReferences: ["+reference+"]}}")
	code, _ = a.do(http.MethodDelete, configMaps+"/owner", "")
	require.Equal(t, http.StatusOK, code)
	b.until(http.StatusNotFound, http.MethodGet, configMaps+"/owned", "")

	// The namespace controller
	a.create("/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: short}}")
	b.until(http.StatusCreated, http.MethodPost, "/api/v1/namespaces/short/configmaps", configMap("x"))
	code, _ = a.do(http.MethodDelete, "/api/v1/namespaces/short", "")
	require.Equal(t, http.StatusOK, code)
	b.until(http.StatusNotFound, http.MethodGet, "/api/v1/namespaces/short", "")
}
