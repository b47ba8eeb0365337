package serve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/serve"
)

// Listener is the open address of a server.
type Listener struct {
	*serve.Server
	front *Front
}

// Listen opens the address and writes the kubeconfig. The caller must call Serve or Close.
func (f *Front) Listen() (*Listener, error) {
	opts := serve.Options{Address: f.Address, ConnectionsPerClient: f.connectionsPer, Grace: 500 * time.Millisecond, Log: log.New(&f.calm, "", 0)}
	if f.secure() {
		opts.TLS = &tls.Config{}
		if f.cert != nil {
			opts.TLS.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.cert.get(), nil }
		}
		if f.ClientCA != "" {
			opts.TLS.ClientAuth = tls.RequestClientCert
		}
	}
	server, err := serve.Listen(opts)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	l := &Listener{server, f}
	if err := l.writeKubeconfig(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// writeKubeconfig writes the file of -kubeconfig, with the first of the tokens. Only its owner can read it.
func (l *Listener) writeKubeconfig() error {
	f := l.front
	if f.Kubeconfig == "" {
		return nil
	}
	token := ""
	if f.TokenFile != "" {
		var err error
		if _, token, err = readTokens(f.TokenFile); err != nil {
			return err
		}
	}
	err := ReplaceFile(f.Kubeconfig, func(w io.Writer) error {
		_, err := w.Write(l.Kubeconfig(token))
		return err
	})
	if err != nil {
		return fmt.Errorf("-kubeconfig: %w", err)
	}
	return nil
}

// WriteSelfSigned writes a certificate as -tls makes it, and its key, to files for -tls-cert
// and -tls-key. The key comes first, so that a certificate that is there has its key.
func WriteSelfSigned(certFile, keyFile, listen string, valid time.Duration) error {
	cert, err := serve.SelfSigned(listen, valid)
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
