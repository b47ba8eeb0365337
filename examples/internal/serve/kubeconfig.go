package serve

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
)

// anonymous is a token for a server that asks for none: without one kubectl asks for a user name
// and a password where there is HTTPS.
const anonymous = "anonymous"

// writeKubeconfig writes a kubeconfig for kubectl and other clients, with the address and
// certificate of the server and the first of the tokens. It is JSON, which is also YAML.
// Only its owner can read it.
func (l *Listener) writeKubeconfig() error {
	f := l.front
	if f.Kubeconfig == "" {
		return nil
	}
	cluster := map[string]any{"server": l.URL}
	if f.cert != nil {
		chain := f.cert.get().Certificate
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: chain[len(chain)-1]})
		if l.serverName != "" {
			cluster["tls-server-name"] = l.serverName
		}
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString(block)
	} else {
		cluster["insecure-skip-tls-verify"] = true // Node's client refuses plain HTTP without it
	}
	user := map[string]any{}
	switch {
	case f.cert != nil && f.authenticate == nil:
		user["token"] = anonymous
	case f.TokenFile != "":
		_, first, err := readTokens(f.TokenFile)
		if err != nil {
			return err
		}
		user["token"] = first
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
	err = ReplaceFile(f.Kubeconfig, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("-kubeconfig: %w", err)
	}
	return nil
}
