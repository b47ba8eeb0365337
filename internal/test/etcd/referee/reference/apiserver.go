package reference

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startLimit is the longest time until etcd, and then kube-apiserver, is ready.
const startLimit = 3 * time.Minute

// Server is a running kube-apiserver. It is an http.RoundTripper that authenticates every request.
type Server struct {
	url       string
	transport *http.Transport

	dir     string // all files of the server
	etcd    *embed.Etcd
	process *exec.Cmd
	exited  chan struct{} // closed when the process has ended
}

// Start starts the kube-apiserver of the given binary with an etcd of its own, and returns when it is ready. It serves all of the
// coordination API. The caller must call Close.
func Start(ctx context.Context, binary string) (*Server, error) {
	return launch(ctx, binary,
		"--feature-gates=CoordinatedLeaderElection=true,ShardedListAndWatch=true,APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false",
		"--runtime-config=coordination.k8s.io/v1beta1=true,coordination.k8s.io/v1alpha2=true",
	)
}

// StartPlain is like Start without the flags that not all versions have: the feature gates and group versions are the default ones.
func StartPlain(ctx context.Context, binary string) (*Server, error) { return launch(ctx, binary) }

func launch(ctx context.Context, binary string, flags ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "kube-apiserver-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, transport: newTransport()}
	if err := s.start(ctx, binary, flags); err != nil {
		err = errors.Join(err, s.lastLog())
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, binary string, flags []string) error {
	if err := writeCredentials(s.dir); err != nil {
		return err
	}
	etcd, endpoint, err := startEtcd(ctx, s.dir)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	s.etcd = etcd
	address, err := loopback()
	if err != nil {
		return err
	}
	s.url = "https://" + address.Host
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close() // the process has a handle of its own
	cmd := exec.Command(binary, append(arguments(s.dir, endpoint, address.Port()), flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = endWithParent()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.process, s.exited = cmd, make(chan struct{})
	go func() {
		defer close(s.exited)
		_ = cmd.Wait()
	}()
	return s.waitUntilReady(ctx)
}

// arguments returns the flags of kube-apiserver: loopback only, no authorization, and as few other writers as possible.
func arguments(dir, etcd, port string) []string {
	key := filepath.Join(dir, "key")
	return []string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + port,
		"--cert-dir=" + filepath.Join(dir, "certs"),
		"--token-auth-file=" + filepath.Join(dir, "tokens"), "--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://reference", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
	}
}

func (s *Server) waitUntilReady(ctx context.Context) error {
	deadline := time.NewTimer(startLimit)
	defer deadline.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if s.ready(ctx) {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.exited:
			return fmt.Errorf("kube-apiserver has ended: %s", s.process.ProcessState)
		case <-deadline.C:
			return errors.New("kube-apiserver was not ready in time")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends the processes and removes their files.
func (s *Server) Close() error {
	s.transport.CloseIdleConnections()
	if s.process != nil {
		_ = s.process.Process.Kill() // has nothing to save
		<-s.exited
	}
	if s.etcd != nil {
		s.etcd.Close()
	}
	return os.RemoveAll(s.dir)
}

// lastLog returns the end of kube-apiserver's log as an error, or nil if the log is empty.
func (s *Server) lastLog() error {
	const limit = 4000
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	if log = log[max(0, len(log)-limit):]; len(log) == 0 {
		return nil
	}
	return errors.New(strings.TrimSpace(string(log)))
}

// writeCredentials writes the token of the only user and the key of the service accounts.
func writeCredentials(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(filepath.Join(dir, "key"), block, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "tokens"), []byte(token+`,reference,1,"system:masters"`+"\n"), 0o600)
}

// loopback returns the URL of a free port. Nothing holds the port until it is listened on.
func loopback() (url.URL, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return url.URL{}, err
	}
	return url.URL{Scheme: "http", Host: l.Addr().String()}, l.Close()
}
