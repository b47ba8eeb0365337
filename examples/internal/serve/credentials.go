package serve

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
)

// openCertificate returns the certificate of -tls-cert, or nil.
func (o *Options) openCertificate() (*reloaded[*tls.Certificate], error) {
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return nil, errors.New("-tls-cert and -tls-key must be set together")
	}
	switch {
	case o.TLSCert != "" && o.SelfSigned:
		return nil, errors.New("-tls creates a certificate: set it or -tls-cert, not both")
	case o.TLSCert != "":
		return reload(func() (*tls.Certificate, error) {
			cert, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey)
			if err != nil {
				return nil, fmt.Errorf("-tls-cert: %w", err)
			}
			return &cert, nil
		}, o.TLSCert, o.TLSKey)
	}
	return nil, nil
}

// readClientCA returns the certificates of -client-ca.
func (o *Options) readClientCA() (*x509.CertPool, error) {
	data, err := os.ReadFile(o.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("-client-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("-client-ca: %s has no certificate", o.ClientCA)
	}
	return pool, nil
}

// clientCertificates authenticates by a certificate that the pool vouches for: its common
// name is the user, its organizations are the groups. Others get 401, not an error of TLS
// (upstream: apiserver, authentication/request/x509).
func clientCertificates(pool *x509.CertPool) httpapi.Authenticator {
	return func(r *http.Request) (httpapi.User, bool) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			return httpapi.User{}, false
		}
		certs := r.TLS.PeerCertificates
		opts := x509.VerifyOptions{Roots: pool, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		for _, cert := range certs[1:] {
			opts.Intermediates.AddCert(cert)
		}
		chains, err := certs[0].Verify(opts)
		if err != nil {
			return httpapi.User{}, false
		}
		return httpapi.ClientCertificates(&http.Request{TLS: &tls.ConnectionState{PeerCertificates: certs, VerifiedChains: chains}})
	}
}

// openAuthenticator returns the Authenticator of the flags, or nil if there is none.
func (o *Options) openAuthenticator() (httpapi.Authenticator, error) {
	var all []httpapi.Authenticator
	if o.ClientCA != "" {
		if !o.secure() {
			return nil, errors.New("-client-ca: needs HTTPS: set -tls or -tls-cert")
		}
		pool, err := reload(o.readClientCA, o.ClientCA)
		if err != nil {
			return nil, err
		}
		all = append(all, func(r *http.Request) (httpapi.User, bool) { return clientCertificates(pool.get())(r) })
	}
	if o.TokenFile != "" {
		bearers, err := reload(func() (httpapi.Authenticator, error) {
			tokens, _, err := readTokens(o.TokenFile)
			return httpapi.BearerTokens(tokens), err
		}, o.TokenFile)
		if err != nil {
			return nil, err
		}
		all = append(all, func(r *http.Request) (httpapi.User, bool) { return bearers.get()(r) })
	}
	if all == nil {
		return nil, nil
	}
	return httpapi.AnyOf(all...), nil
}

// readTokens reads a token file in the form of kube-apiserver: comma-separated
// lines of token, user, uid and, optionally, groups in one quoted field. first is the token
// of the first line.
func readTokens(file string) (tokens map[string]httpapi.User, first string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, "", fmt.Errorf("-token-file: %w", err)
	}
	defer f.Close()
	tokens = map[string]httpapi.User{}
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	r.Comment = '#'
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, "", fmt.Errorf("-token-file: %w", err)
		}
		line, _ := r.FieldPos(0)
		if len(record) < 3 || record[0] == "" {
			// The line itself may hold a secret, so it is not shown.
			return nil, "", fmt.Errorf("-token-file: line %d: want token,user,uid and perhaps groups", line)
		}
		user := httpapi.User{Name: record[1]}
		if len(record) > 3 && record[3] != "" {
			user.Groups = strings.Split(record[3], ",")
		}
		tokens[record[0]] = user
		first = cmp.Or(first, record[0])
	}
	if len(tokens) == 0 {
		return nil, "", fmt.Errorf("-token-file: must have at least one token")
	}
	return tokens, first, nil
}
