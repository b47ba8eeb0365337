package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"
)

// AlwaysAllow and system:anonymous exclude each other, with a warning if the flag asks for both (upstream: kubeapiserver/options,
// ApplyAuthorization).
func TestAnonymousIsNotAllowedAll(t *testing.T) {
	const warning = "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer"
	for _, row := range []struct {
		args   []string
		code   int
		warned bool
	}{
		{[]string{"--authorization-mode=AlwaysAllow", "--anonymous-auth=true"}, 401, true},
		{[]string{"--authorization-mode=AlwaysAllow"}, 401, true},
		{nil, 401, true},
		{[]string{"--authorization-mode=RBAC,AlwaysAllow"}, 401, true},
		{[]string{"--authorization-mode=AlwaysAllow", "--anonymous-auth=false"}, 401, false},
		{[]string{"--authorization-mode=RBAC", "--anonymous-auth=true"}, 403, false},
		{[]string{"--authorization-mode=RBAC", "--anonymous-auth=false"}, 401, false},
		{[]string{"--authorization-mode=AlwaysDeny"}, 403, false},
	} {
		var log bytes.Buffer
		klog.LogToStderr(false)
		klog.SetOutput(&log)
		o, problems := optionsOf(t, slices.Concat(slices.DeleteFunc(arguments(t), func(a string) bool { return strings.Contains(a, "authorization-mode") }), row.args)...)
		require.Empty(t, problems)
		s, err := o.newServer()
		require.NoError(t, err)
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/pods", nil))
		assert.Equal(t, row.code, w.Code, "%v: %s", row.args, w.Body)
		s.api.Close()
		klog.Flush()
		klog.SetOutput(io.Discard)
		klog.LogToStderr(true)
		assert.Equal(t, row.warned, bytes.Contains(log.Bytes(), []byte(warning)), "%v: %s", row.args, &log)
	}
}

// Credentials that the server does not know are refused. Such a request is not one without credentials.
func TestUnknownCredentialsAreNotAnonymous(t *testing.T) {
	own, _, err := cert.GenerateSelfSignedCertKey("ca", nil, nil)
	require.NoError(t, err)
	other, _, err := cert.GenerateSelfSignedCertKey("other", nil, nil)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(file, own, 0o600))
	certs, err := cert.ParseCertsPEM(other)
	require.NoError(t, err)
	for _, row := range []struct {
		args  []string
		tls   *tls.ConnectionState
		token string
		code  int
	}{
		{[]string{"--client-ca-file=" + file}, &tls.ConnectionState{}, "", 200},
		{[]string{"--client-ca-file=" + file}, &tls.ConnectionState{PeerCertificates: certs}, "", 401},
		{[]string{"--client-ca-file=" + file}, &tls.ConnectionState{}, "Bearer unknown", 401},
		{nil, &tls.ConnectionState{PeerCertificates: certs}, "", 200}, // no authenticator reads the certificate
	} {
		o, problems := optionsOf(t, arguments(t, row.args...)...)
		require.Empty(t, problems)
		s, err := o.newServer()
		require.NoError(t, err)
		r, w := httptest.NewRequest("GET", "/version", nil), httptest.NewRecorder()
		if r.TLS = row.tls; row.token != "" {
			r.Header.Set("Authorization", row.token)
		}
		s.api.ServeHTTP(w, r)
		assert.Equal(t, row.code, w.Code, "%v: %s", row, w.Body)
		s.api.Close()
	}
}
