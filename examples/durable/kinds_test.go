package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// definition returns a CustomResourceDefinition.
func definition(kind, plural string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[2]s.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"kind":%[1]q,"plural":%[2]q},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"keep":{"type":"integer","default":3}}}}}}}]}}`, kind, plural)
}

func TestKilledServerKeepsTheObjectsOfAllKinds(t *testing.T) {
	dir, crds := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(crds, "backups.yaml"), []byte(definition("Backup", "backups")), 0o600))
	args := []string{"-listen", freeAddress(t), "-data-dir", filepath.Join(dir, "data"), "-tls", "-make-token", "-kinds", "client-go", "-crds", crds}
	p := startServer(t, args...)
	client := readKubeconfig(t, filepath.Join(dir, "data"))
	const (
		configMaps  = "/api/v1/namespaces/default/configmaps"
		definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		backups     = "/apis/example.com/v1/namespaces/default/backups"
		restores    = "/apis/example.com/v1/namespaces/default/restores"
	)
	paths := []string{configMaps + "/a", backups + "/a", restores + "/a"}
	client.must(t, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	client.must(t, "POST", backups, `{"apiVersion":"example.com/v1","kind":"Backup","metadata":{"name":"a"},"spec":{}}`)
	client.must(t, "POST", definitions, definition("Restore", "restores"))
	require.Eventually(t, func() bool { code, _ := client.do(t, "GET", restores, ""); return code == 200 }, time.Minute, 10*time.Millisecond)
	client.must(t, "POST", restores, `{"apiVersion":"example.com/v1","kind":"Restore","metadata":{"name":"a"},"spec":{}}`)
	before := map[string]string{}
	for _, path := range paths {
		_, before[path] = client.do(t, "GET", path, "")
	}
	assert.Contains(t, before[backups+"/a"], `"spec":{"keep":3}`)

	code, metrics := client.do(t, "GET", "/metrics", "")
	assert.Equal(t, 200, code)
	for _, resource := range []string{`group="",resource="configmaps"} 1`, `group="example.com",resource="backups"} 1`, `group="example.com",resource="restores"} 1`} {
		assert.Contains(t, metrics, "apiserver_resource_objects{"+resource+"\n")
	}

	p.kill()
	startServer(t, args...)
	for _, path := range paths {
		code, now := client.do(t, "GET", path, "")
		assert.Equal(t, 200, code, path)
		assert.Equal(t, before[path], now, path)
	}
}
