package envtest

import (
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/store/kube/internal/controlplane"
)

// authenticator finds the user of a request.
type authenticator struct {
	clients   *controlplane.Certificates // nil if there is no client-ca-file
	tokens    httpapi.Authenticator      // nil if there is no token-auth-file
	anonymous bool
}

func newAuthenticator(f flags) (*authenticator, error) {
	a := &authenticator{anonymous: f.anonymous}
	if f.clientCAFile != "" {
		var err error
		if a.clients, err = controlplane.ReadCertificates(f.clientCAFile); err != nil {
			return nil, err
		}
	}
	if f.tokenAuthFile != "" {
		tokens, err := controlplane.ReadTokens(f.tokenAuthFile)
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
		return a.clients.User(r)
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

// named names the client of each request after its user, for matches of apitest.
func (a *authenticator) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, ok := a.user(r); ok {
			r = r.WithContext(caller.WithName(r.Context(), u.Name))
		}
		next.ServeHTTP(w, r)
	})
}
