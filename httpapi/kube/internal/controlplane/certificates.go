package controlplane

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
)

// Certificates find the users of client certificates. They are safe for concurrent use. A nil value knows no certificate.
type Certificates struct{ roots *x509.CertPool }

// ReadCertificates reads the certificates of the authorities whose clients are known, as PEM: --client-ca-file.
func ReadCertificates(name string) (*Certificates, error) {
	file, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	c := &Certificates{roots: x509.NewCertPool()}
	if !c.roots.AppendCertsFromPEM(file) {
		return nil, fmt.Errorf("%s: no certificate in PEM", name)
	}
	return c, nil
}

// connKey is the key of the connection's user in the context of its requests.
type connKey struct{}

// connUser is the user of a connection, found by its first request.
type connUser struct {
	once sync.Once
	user httpapi.User
	ok   bool
}

// ConnContext is for the field of http.Server with this name. The certificate of a connection is then verified once.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(httpapi.ConnContext(ctx, conn), connKey{}, new(connUser))
}

// User returns the user of the client certificate of a request, which the TLS connection need not have verified (upstream:
// apiserver, authentication/request/x509).
func (c *Certificates) User(r *http.Request) (httpapi.User, bool) {
	if c == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return httpapi.User{}, false
	}
	of, remembered := r.Context().Value(connKey{}).(*connUser)
	if !remembered {
		of = new(connUser)
	}
	of.once.Do(func() { of.user, of.ok = c.verify(r.TLS.PeerCertificates) })
	return of.user, of.ok
}

func (c *Certificates) verify(certs []*x509.Certificate) (httpapi.User, bool) {
	opts := x509.VerifyOptions{Roots: c.roots, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, cert := range certs[1:] {
		opts.Intermediates.AddCert(cert)
	}
	if _, err := certs[0].Verify(opts); err != nil {
		return httpapi.User{}, false
	}
	return httpapi.User{Name: certs[0].Subject.CommonName, Groups: certs[0].Subject.Organization}, true
}
