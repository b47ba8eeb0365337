package envtest

import (
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/controlplane"
)

// authenticator returns the function that finds the user of a request: the user that a transport of AddUser has set, or else the user
// by the flags. The test itself, by the Transport, the URL or the Kubeconfig of apitest, may do everything.
func authenticator(flags controlplane.Authentication) (httpapi.Authenticator, error) {
	byFlags, err := flags.Authenticator()
	if err != nil {
		return nil, err
	}
	return func(r *http.Request) (httpapi.User, bool) {
		if u, ok := r.Context().Value(userKey{}).(User); ok {
			return httpapi.User{Name: u.Name, Groups: u.Groups}, true
		}
		if c := r.Header.Get("Authorization"); r.TLS == nil && (c == "" || strings.EqualFold(c, "Bearer apitest")) {
			return httpapi.User{Name: "admin", Groups: []string{systemMasters}}, true
		}
		return byFlags(r)
	}, nil
}

type userKey struct{}

// named names the client of each request after its user, for matches of apitest.
func named(userOf httpapi.Authenticator, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, ok := userOf(r); ok {
			r = r.WithContext(apitest.WithClient(r.Context(), u.Name))
		}
		next.ServeHTTP(w, r)
	})
}
