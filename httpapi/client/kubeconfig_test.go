package client_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/client"
)

func TestKubeconfigNamesWhatIsWrong(t *testing.T) {
	cert, key, _ := newCertificate(t)
	_, otherKey, _ := newCertificate(t)
	dir := t.TempDir()
	write(t, dir, "me.crt", cert)
	write(t, dir, "empty", nil)
	const good = "{server: 'https://127.0.0.1:1'}"
	inCluster, inUser := `: context "here": cluster "this": `, `: context "here": user "me": `
	for name, row := range map[string]struct{ cluster, user, want string }{
		"no server":                  {"{}", "{}", inCluster + `server: got "", want http:// or https://, a host, and at most a path after it`},
		"a server without a scheme":  {"{server: '10.0.0.1:6443'}", "{}", inCluster + "server: "},
		"a number as server":         {"{server: 1}", "{}", "json: cannot unmarshal number into Go struct field"},
		"a proxy":                    {"{server: 'https://a', proxy-url: 'http://b'}", "{}", inCluster + "proxy-url: got one, want none"},
		"no file of the authority":   {"{server: 'https://a', certificate-authority: none}", "{}", inCluster + "certificate-authority: open "},
		"no PEM in the authority":    {"{server: 'https://a', certificate-authority: empty, certificate-authority-data: aGVsbG8=}", "{}", inCluster + "certificate-authority: got no certificate, want PEM"},
		"no base64 in the authority": {"{server: 'https://a', certificate-authority-data: '%%'}", "{}", "illegal base64 data"},
		"checks and no checks":       {"{server: 'https://a', insecure-skip-tls-verify: true, certificate-authority: me.crt}", "{}", inCluster + "insecure-skip-tls-verify: got it together with certificate-authority"},
		"exec":                       {good, "{exec: {command: aws}}", inUser + "exec: not supported, want token, tokenFile or client-certificate"},
		"auth-provider":              {good, "{auth-provider: {name: gcp}}", inUser + "auth-provider: not supported"},
		"password":                   {good, "{username: me, password: secret}", inUser + "username: not supported"},
		"impersonation":              {good, "{token: a, as: you}", inUser + "as: not supported"},
		"no key":                     {good, "{client-certificate: me.crt}", inUser + "client-certificate and client-key: "},
		"no certificate":             {good, "{client-key: me.crt}", inUser + "client-certificate and client-key: "},
		"no file of a certificate":   {good, "{client-certificate: none, client-key: none}", inUser + "client-certificate: open "},
		"no file of a key":           {good, "{client-certificate: me.crt, client-key: none}", inUser + "client-key: open "},
		"a key of another":           {good, "{client-certificate: me.crt, client-key-data: " + encode(otherKey) + "}", inUser + "client-certificate and client-key: tls: private key does not match public key"},
		"a list as user":             {good, "[token]", "json: cannot unmarshal array"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Kubeconfig(kubeconfig(t, dir, row.cluster, row.user))
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), "client: kubeconfig"), "got %q", err)
			assert.ErrorContains(t, err, row.want)
			for _, secret := range []string{encode(key), encode(otherKey), "secret"} {
				assert.NotContains(t, err.Error(), secret)
			}
		})
	}
	for name, row := range map[string]struct{ text, want string }{
		"nothing":            {"", "client: kubeconfig: current-context: got none, want the name of a context"},
		"no YAML":            {"a: [", "yaml: line 1"},
		"a list":             {"[]", "json: cannot unmarshal array"},
		"no context":         {"current-context: a", `client: kubeconfig: current-context: got "a", and there is no such context`},
		"no cluster":         {"{current-context: a, contexts: [{name: a, context: {cluster: b}}]}", `client: kubeconfig: context "a": cluster: got "b", and there is no such cluster`},
		"no user":            {"{current-context: a, contexts: [{name: a, context: {cluster: b, user: c}}], clusters: [{name: b, cluster: {server: 'https://x'}}]}", `client: kubeconfig: context "a": user: got "c", and there is no such user`},
		"aliases of aliases": {"a: &a [x, x]\nb: &b [*a, *a]\ncurrent-context: *b", "json: cannot unmarshal array"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Kubeconfig(write(t, dir, "config", []byte(row.text)))
			assert.ErrorContains(t, err, row.want)
		})
	}
	t.Run("no file", func(t *testing.T) {
		_, err := client.Kubeconfig(filepath.Join(dir, "none"))
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
}

// A server without TLS gets no credentials, as from client-go.
func TestKubeconfigOfAServerWithoutTLSHasNoUser(t *testing.T) {
	config, err := client.Kubeconfig(kubeconfig(t, t.TempDir(), "{server: 'http://127.0.0.1:8001/below', insecure-skip-tls-verify: true}", "{token: secret, exec: {command: x}}"))
	require.NoError(t, err)
	assert.Equal(t, client.Config{Server: "http://127.0.0.1:8001/below"}, config)
}

func TestKubeconfigOfTheEnvironment(t *testing.T) {
	home, one, two := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	t.Setenv("HOME", home)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBECONFIG", "")
	_, err := client.Kubeconfig("")
	assert.ErrorContains(t, err, "client: kubeconfig: got none of [")

	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	_, err = client.Kubeconfig("")
	assert.ErrorContains(t, err, "client: kubeconfig: got none of [", "there is no host")

	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	_, err = client.Kubeconfig("")
	assert.ErrorContains(t, err, "client: service account: certificate-authority: open /var/run/secrets/kubernetes.io/serviceaccount/ca.crt")

	kubeconfig(t, filepath.Join(home, ".kube"), "{server: 'http://home'}", "{}")
	config, err := client.Kubeconfig("")
	require.NoError(t, err)
	assert.Equal(t, "http://home", config.Server)

	// Without a home nothing below the present folder counts.
	t.Chdir(home)
	t.Setenv("HOME", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	_, err = client.Kubeconfig("")
	assert.ErrorContains(t, err, "client: kubeconfig: got none of []")

	// Of several files, the first one counts that has an entry. Files that do not exist are left out.
	first := write(t, one, "first", []byte("{current-context: here, clusters: [{name: this, cluster: {server: 'http://first'}}]}"))
	second := kubeconfig(t, two, "{server: 'http://second'}", "{}")
	t.Setenv("KUBECONFIG", strings.Join([]string{filepath.Join(one, "none"), first, second}, string(filepath.ListSeparator)))
	config, err = client.Kubeconfig("")
	require.NoError(t, err)
	assert.Equal(t, "http://first", config.Server)
}
