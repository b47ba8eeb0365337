package main

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"github.com/kubecoord/kubecoord/examples/internal/serve"
)

// keepFiles makes the files beside the data in the data directory, unless they are there: with
// -tls a certificate and its key, with -make-token a token. The kubeconfig is written there,
// unless -kubeconfig names another file. Only the owner can read them. It takes the directory
// for this process until the function that it returns is called.
func (c *config) keepFiles() (unlock func(), err error) {
	if err := os.MkdirAll(c.dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("-data-dir: %w", err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(c.dataDir, "lock"), os.O_WRONLY|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		err = errors.New("another process uses it: stop that one, or give another directory")
	}
	if err != nil {
		return nil, fmt.Errorf("-data-dir %s: %w", c.dataDir, err)
	}
	if err := c.makeFiles(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { lock.Close() }, nil
}

func (c *config) makeFiles() error {
	if c.Kubeconfig == "" {
		c.Kubeconfig = filepath.Join(c.dataDir, "kubeconfig")
	}
	if c.SelfSigned && c.TLSCert == "" {
		if err := c.keepCertificate(); err != nil {
			return err
		}
	}
	if c.makeToken {
		c.TokenFile = filepath.Join(c.dataDir, "tokens")
		return c.keepToken()
	}
	return nil
}

// keepToken makes a file with one token.
func (c *config) keepToken() error {
	_, err := os.Stat(c.TokenFile)
	if errors.Is(err, os.ErrNotExist) {
		err = serve.ReplaceFile(c.TokenFile, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s,admin,admin\n", rand.Text())
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("-make-token: %w", err)
	}
	return nil
}

// keepCertificate makes a certificate and its key, and checks that they can still be used.
func (c *config) keepCertificate() error {
	c.TLSCert, c.TLSKey = filepath.Join(c.dataDir, "tls.crt"), filepath.Join(c.dataDir, "tls.key")
	_, err := os.Stat(c.TLSCert)
	if errors.Is(err, os.ErrNotExist) {
		err = serve.WriteSelfSigned(c.TLSCert, c.TLSKey, c.Address, 10*365*24*time.Hour)
	}
	if err != nil {
		return fmt.Errorf("-tls: %w", err)
	}
	c.SelfSigned = false
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return fmt.Errorf("-tls: %s: %w", c.TLSCert, err)
	}
	host, _, err := net.SplitHostPort(c.Address)
	if err == nil && host != "" && !net.ParseIP(host).IsUnspecified() {
		err = pair.Leaf.VerifyHostname(host)
	}
	if now := time.Now(); err == nil && now.After(pair.Leaf.NotAfter) {
		err = fmt.Errorf("it has expired at %s", pair.Leaf.NotAfter)
	}
	if err != nil {
		return fmt.Errorf("-tls: %s: %w: remove it to get a new one, and give clients the new kubeconfig", c.TLSCert, err)
	}
	return nil
}
