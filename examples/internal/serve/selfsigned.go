package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// selfSigned returns a certificate for the hosts of -listen and the loopback, valid for some
// years.
func selfSigned(listen string, years int) (*tls.Certificate, error) {
	hosts, err := clientHosts(listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "kubecoord"},
		NotBefore:             now.AddDate(0, 0, -1), // the clock may be set back later, and clocks of clients differ
		NotAfter:              now.AddDate(years, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if host != "localhost" {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// WriteSelfSigned writes a certificate as -tls makes it, and its key, to files for -tls-cert
// and -tls-key. The key comes first, so that a certificate that is there has its key.
func WriteSelfSigned(certFile, keyFile, listen string, years int) error {
	cert, err := selfSigned(listen, years)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return err
	}
	if err := writePEM(keyFile, "PRIVATE KEY", key); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", cert.Certificate[0])
}

func writePEM(file, kind string, data []byte) error {
	return ReplaceFile(file, func(w io.Writer) error { return pem.Encode(w, &pem.Block{Type: kind, Bytes: data}) })
}
