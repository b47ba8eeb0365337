package envtest

import (
	"context"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/caller"
)

// authenticator finds the user of a request.
type authenticator struct {
	clients   *x509.CertPool        // nil if there is no client-ca-file
	tokens    httpapi.Authenticator // nil if there is no token-auth-file
	anonymous bool
}

func newAuthenticator(f flags) (*authenticator, error) {
	a := &authenticator{anonymous: f.anonymous}
	if f.clientCAFile != "" {
		file, err := os.ReadFile(f.clientCAFile)
		if err != nil {
			return nil, err
		}
		if a.clients, err = pool(file, f.clientCAFile); err != nil {
			return nil, err
		}
	}
	if f.tokenAuthFile != "" {
		tokens, err := tokensOf(f.tokenAuthFile)
		if err != nil {
			return nil, err
		}
		a.tokens = httpapi.BearerTokens(tokens)
	}
	return a, nil
}

// user returns the user of a request. The test itself, by the Transport, the URL or the Kubeconfig of apitest, may do
// everything.
func (a *authenticator) user(r *http.Request) (httpapi.User, bool) {
	if u, ok := r.Context().Value(userKey{}).(User); ok {
		return httpapi.User{Name: u.Name, Groups: u.Groups}, true
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		return a.certified(r)
	}
	credentials := r.Header.Get("Authorization")
	if credentials != "" && a.tokens != nil {
		if u, ok := a.tokens(r); ok {
			return u, true
		}
	}
	switch {
	case r.TLS == nil && (credentials == "" || strings.EqualFold(credentials, "Bearer apitest")):
		return httpapi.User{Name: "admin", Groups: []string{systemMasters}}, true
	case credentials != "" || !a.anonymous:
		return httpapi.User{}, false
	}
	return httpapi.User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}, true
}

type userKey struct{}

// connKey is the key of the connection's user in the context of its requests.
type connKey struct{}

// connUser is the user of a connection, found by its first request.
type connUser struct {
	once sync.Once
	user httpapi.User
	ok   bool
}

// remember returns a context for the requests of a new connection.
func (a *authenticator) remember(ctx context.Context) context.Context {
	return context.WithValue(ctx, connKey{}, new(connUser))
}

// certified returns the user of a client certificate (upstream: apiserver, authentication/request/x509).
func (a *authenticator) certified(r *http.Request) (httpapi.User, bool) {
	of, remembered := r.Context().Value(connKey{}).(*connUser)
	if !remembered {
		of = new(connUser)
	}
	of.once.Do(func() {
		if a.clients == nil {
			return
		}
		certs := r.TLS.PeerCertificates
		opts := x509.VerifyOptions{Roots: a.clients, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		for _, cert := range certs[1:] {
			opts.Intermediates.AddCert(cert)
		}
		if _, err := certs[0].Verify(opts); err != nil {
			return
		}
		of.user, of.ok = httpapi.User{Name: certs[0].Subject.CommonName, Groups: certs[0].Subject.Organization}, true
	})
	return of.user, of.ok
}

// named names the client of each request after its user, for matches of apitest.
func (a *authenticator) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, ok := a.user(r); ok {
			r = r.WithContext(caller.WithName(r.Context(), u.Name))
		}
		next.ServeHTTP(w, r)
	})
}
