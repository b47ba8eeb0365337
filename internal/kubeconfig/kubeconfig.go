// Package kubeconfig writes the file that points kubectl and other clients to a server.
package kubeconfig

import "encoding/json"

// File is a kubeconfig with one server and one user.
type File struct {
	Server     string // its URL
	CA         []byte // the certificate of its authority as PEM, or nil for plain HTTP
	ServerName string // a name that the certificate is for, if it is not for the host of Server
	Token      string // or ""
}

// Bytes returns the file as JSON, which is also YAML.
func (f File) Bytes() []byte {
	cluster, user := map[string]any{"server": f.Server}, map[string]any{}
	if f.CA != nil {
		cluster["certificate-authority-data"] = f.CA // in base64
	} else {
		cluster["insecure-skip-tls-verify"] = true // Node's client refuses plain HTTP without it
	}
	if f.ServerName != "" {
		cluster["tls-server-name"] = f.ServerName
	}
	if f.Token != "" {
		user["token"] = f.Token
	}
	const name = "kubecoord"
	data, _ := json.MarshalIndent(map[string]any{ // these types have no error
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": cluster}},
		"users":    []any{map[string]any{"name": name, "user": user}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": name}}},
	}, "", "  ")
	return append(data, '\n')
}
