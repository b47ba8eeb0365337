package apitest

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
)

// KubeconfigToken is the bearer token in the files that Kubeconfig writes. An API
// without an Authenticator takes no notice of it; kubectl does, which asks who
// works at the terminal where it has none to send over TLS.
const KubeconfigToken = "apitest"

// Kubeconfig returns the name of a file, in a folder that goes with the test,
// which leads kubectl and clients in any language to URL. Give it to them as
// KUBECONFIG. Each call writes another file, so that one client may change its
// own. The user in it has the bearer token KubeconfigToken.
func (a *API) Kubeconfig() string {
	a.t.Helper()
	// Node's client takes no plain HTTP unless it is told not to verify.
	return a.writeKubeconfig(map[string]any{"server": a.URL(), "insecure-skip-tls-verify": true})
}

// TLSKubeconfig is Kubeconfig for TLSURL, with CA in it.
func (a *API) TLSKubeconfig() string {
	a.t.Helper()
	return a.writeKubeconfig(map[string]any{
		"server":                     a.TLSURL(),
		"certificate-authority-data": base64.StdEncoding.EncodeToString(a.CA()),
	})
}

// writeKubeconfig writes the file as JSON, which is also YAML.
func (a *API) writeKubeconfig(cluster map[string]any) string {
	a.t.Helper()
	const name = "kubecoord"
	data, err := json.MarshalIndent(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": cluster}},
		"users":    []any{map[string]any{"name": name, "user": map[string]string{"token": KubeconfigToken}}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": name}}},
	}, "", "  ")
	file := filepath.Join(a.t.TempDir(), "kubeconfig")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o600)
	}
	if err != nil {
		a.t.Fatalf("apitest: kubeconfig: %v", err)
	}
	return file
}
