package controlplane

import (
	"net/http"
	"os"

	"github.com/kubecoord/kubecoord/httpapi"
)

// Authentication has the flags by which a server finds the user of a request.
type Authentication struct {
	// ClientCAFile and TokenFile are --client-ca-file and --token-auth-file, or "".
	ClientCAFile, TokenFile string
	// Anonymous is what Rules.Anonymous makes of --anonymous-auth.
	Anonymous bool
}

// ClientCA reads the certificates of --client-ca-file. There are none without the flag.
func (a Authentication) ClientCA() ([]byte, error) {
	if a.ClientCAFile == "" {
		return nil, nil
	}
	return os.ReadFile(a.ClientCAFile)
}

// Authenticator reads the files. It returns the user of a request by its client certificate, by its token, or system:anonymous.
func (a Authentication) Authenticator() (httpapi.Authenticator, error) {
	var certificates *Certificates
	var tokens map[string]httpapi.User
	var err error
	if a.ClientCAFile != "" {
		if certificates, err = ReadCertificates(a.ClientCAFile); err != nil {
			return nil, err
		}
	}
	if a.TokenFile != "" {
		if tokens, err = ReadTokens(a.TokenFile); err != nil {
			return nil, err
		}
	}
	known := httpapi.AnyOf(certificates.User, httpapi.BearerTokens(tokens))
	return func(r *http.Request) (httpapi.User, bool) {
		if u, ok := known(r); ok {
			return u, true
		}
		hasCertificate := r.TLS != nil && len(r.TLS.PeerCertificates) > 0
		anonymous := httpapi.User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}
		return anonymous, a.Anonymous && r.Header.Get("Authorization") == "" && (!hasCertificate || certificates == nil)
	}, nil
}
