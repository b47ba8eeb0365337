package serve

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/kubecoord/kubecoord/httpapi"
)

// writeKubeconfig writes a kubeconfig for kubectl and other clients, with the address and
// certificate of the server and the first of the tokens. It is JSON, which is also YAML.
// Only its owner can read it.
func writeKubeconfig(file, url string, cert *tls.Certificate, tokens map[string]httpapi.User) error {
	if file == "" {
		return nil
	}
	cluster := map[string]any{"server": url}
	if cert != nil {
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[len(cert.Certificate)-1]})
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString(block)
	} else {
		cluster["insecure-skip-tls-verify"] = true // Node's client refuses plain HTTP without it
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
	err = ReplaceFile(file, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("-kubeconfig: %w", err)
	}
	return nil
}
