package main

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/kubecoord/kubecoord/httpapi"
)

// writeKubeconfig writes a file that points kubectl and other clients at the
// server, with its certificate and the first of the tokens. It is JSON, which
// is also YAML, and readable by its owner only.
func writeKubeconfig(file, url string, cert *tls.Certificate, tokens map[string]httpapi.User) error {
	if file == "" {
		return nil
	}
	cluster := map[string]any{"server": url}
	if cert != nil {
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[len(cert.Certificate)-1]})
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString(block)
	} else {
		cluster["insecure-skip-tls-verify"] = true // or Node's client takes no plain HTTP
	}
	user := map[string]any{}
	if len(tokens) > 0 {
		user["token"] = slices.Min(slices.Collect(maps.Keys(tokens)))
	}
	const name = "kubecoord"
	data, err := json.MarshalIndent(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": cluster}},
		"users":    []any{map[string]any{"name": name, "user": user}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": name}}},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("-kubeconfig: %w", err)
	}
	return nil
}
