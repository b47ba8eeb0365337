package envtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// authority signs certificates: of one server, of its clients, or of a server for webhooks.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Certificates take their times from the clock of the machine and not of a testing/synctest bubble, in which they would have expired
// for programs outside of it. So the certificates are valid from the year in which time begins in a bubble.
func validity() (from, to time.Time) {
	now := time.Now()
	from = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	return from, now.AddDate(100, 0, 0)
}

func newAuthority(commonName string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	from, to := validity()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: commonName, Organization: []string{"envtest"}}, SerialNumber: big.NewInt(1),
		NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{cert, key}, err
}

// pem returns the certificate of the authority.
func (a *authority) pem() []byte { return certificatePEM(a.cert.Raw) }

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

// serverCert is the certificate of a server, its key, and the certificate of the authority that signed it, as PEM.
type serverCert struct{ cert, key, ca []byte }

// serverCertFor returns a certificate for a server with these host names and addresses, and localhost. All servers on the
// loopback share one: whoever has its key is in this process already.
func serverCertFor(hosts ...string) (serverCert, error) {
	if slices.ContainsFunc(hosts, func(host string) bool {
		return host != "" && host != "localhost" && host != "127.0.0.1" && host != "::1"
	}) {
		return newServerCert(hosts...)
	}
	return loopbackCert()
}

var loopbackCert = sync.OnceValues(func() (serverCert, error) { return newServerCert() })

func newServerCert(hosts ...string) (serverCert, error) {
	authority, err := newAuthority("envtest-environment")
	if err != nil {
		return serverCert{}, err
	}
	cert, key, err := authority.serving(hosts...)
	return serverCert{cert, key, authority.pem()}, err
}

// write writes the certificate and the key to files of a directory.
func (c serverCert) write(dir, cert, key string) error {
	return errors.Join(os.WriteFile(filepath.Join(dir, cert), c.cert, 0o640), os.WriteFile(filepath.Join(dir, key), c.key, 0o640))
}

// serving returns a certificate for a server with these host names and addresses, and localhost.
func (a *authority) serving(hosts ...string) (cert, key []byte, err error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost", Organization: []string{"envtest"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, host := range hosts {
		switch ip := net.ParseIP(host); {
		case host == "" || host == "localhost":
		case ip != nil:
			template.IPAddresses = append(template.IPAddresses, ip)
		default:
			addresses, err := net.LookupIP(host)
			if err != nil {
				return nil, nil, err
			}
			template.DNSNames = append(template.DNSNames, host)
			template.IPAddresses = append(template.IPAddresses, addresses...)
		}
	}
	return a.sign(template)
}

// client returns a certificate of a user.
func (a *authority) client(user User) (cert, key []byte, err error) {
	return a.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user.Name, Organization: user.Groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// sign completes a certificate and signs it.
func (a *authority) sign(template *x509.Certificate) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62)); err != nil {
		return nil, nil, err
	}
	template.NotBefore, template.NotAfter = validity()
	template.KeyUsage = x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = keyPEM(private)
	return certificatePEM(der), key, err
}
