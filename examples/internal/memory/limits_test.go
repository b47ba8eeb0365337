package memory

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limited returns the config of a server with the limits of these flags, the default for the others.
func limited(t *testing.T, flags ...string) config {
	t.Helper()
	var c config
	f := flag.NewFlagSet("", flag.PanicOnError)
	c.Register(f)
	require.NoError(t, f.Parse(flags))
	c.Address = "127.0.0.1:0"
	return c
}

// authority signs certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.key, a.cert = a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign signs a certificate, an authority without a key its own.
func (a *authority) sign(t *testing.T, template *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return key, cert
}

func TestClientCertificatesAreCredentials(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := newAuthority(t), newAuthority(t)
	c := limited(t)
	c.SelfSigned, c.ClientCA, c.TokenFile = true, filepath.Join(dir, "ca.pem"), filepath.Join(dir, "tokens")
	require.NoError(t, os.WriteFile(c.ClientCA, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.cert.Raw}), 0o600))
	require.NoError(t, os.WriteFile(c.TokenFile, []byte("s3cret,bob,1\n"), 0o600))
	_, stop, url, done := start(t, c)
	defer func() { stop(); require.NoError(t, <-done) }()
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	for name, row := range map[string]struct {
		ca       *authority
		template *x509.Certificate
		token    string
		code     int
	}{
		"ours":                   {ours, &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}, ExtKeyUsage: usage}, "", 200},
		"without a name":         {ours, &x509.Certificate{ExtKeyUsage: usage}, "", 401},
		"of a server":            {ours, &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, "", 401},
		"of others":              {theirs, &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}, ExtKeyUsage: usage}, "", 401},
		"of others with a token": {theirs, &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}, ExtKeyUsage: usage}, "s3cret", 200},
		"none":                   {nil, nil, "", 401},
		"none but a token":       {nil, nil, "s3cret", 200},
	} {
		t.Run(name, func(t *testing.T) {
			config := &tls.Config{InsecureSkipVerify: true}
			if row.ca != nil {
				key, cert := row.ca.sign(t, row.template)
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}, nil
				}
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
			defer client.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), "GET", url+leases, nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+row.token)
			resp, err := client.Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, row.code, resp.StatusCode)
		})
	}
}
