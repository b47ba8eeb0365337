package explore_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// TestMain is one of the programs that the tests explore, if $EXPLORE_PROGRAM names one.
func TestMain(m *testing.M) {
	name := os.Getenv("EXPLORE_PROGRAM")
	if name == "" {
		os.Exit(m.Run())
	}
	program, ok := programs()[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no program", name)
		os.Exit(1)
	}
	fmt.Println(name, "begins")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := program(ctx, connOf(os.Getenv("KUBECONFIG"))); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// programs are the programs by their names.
func programs() map[string]func(ctx context.Context, c explore.Conn) error {
	return map[string]func(ctx context.Context, c explore.Conn) error{
		"mirror":   mirror,
		"careless": forgetful,
		"ends":     func(context.Context, explore.Conn) error { return errors.New("the disk is full") },
		"pod": func(context.Context, explore.Conn) error {
			return errors.New("unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined")
		},
		"webhook": func(context.Context, explore.Conn) error {
			return errors.New("open /tmp/k8s-webhook-server/serving-certs/tls.crt: no such file or directory")
		},
		"port": func(context.Context, explore.Conn) error {
			return errors.New("listen tcp :8081: bind: address already in use")
		},
		"panics": func(context.Context, explore.Conn) error { panic("no map") },
		"elsewhere": func(ctx context.Context, _ explore.Conn) error {
			fmt.Println("connecting to 192.0.2.1")
			<-ctx.Done()
			return nil
		},
		"asks once": func(ctx context.Context, c explore.Conn) error {
			leases, _, err := collections(c)
			if err == nil {
				_, err = leases.List(ctx, store.ListOptions{})
			}
			<-ctx.Done()
			return err
		},
		"writes": writes,
		"looks": func(ctx context.Context, c explore.Conn) error {
			leases, _, err := collections(c)
			if err != nil {
				return err
			}
			for range leases.Follow(ctx, store.WatchOptions{Namespace: "default"}) {
			}
			return nil
		},
		"two at once": func(ctx context.Context, c explore.Conn) error { // it reads all the time while it mirrors
			leases, _, err := collections(c)
			if err != nil {
				return err
			}
			go func() {
				for ctx.Err() == nil {
					_, _ = leases.Get(ctx, "default", "none")
				}
			}()
			return mirror(ctx, c)
		},
		"alone": func(ctx context.Context, c explore.Conn) error {
			l, err := net.Listen("tcp", os.Getenv("ADDRESS"))
			if err != nil {
				return errors.Join(err, os.WriteFile(os.Getenv("TAKEN"), nil, 0o600))
			}
			defer l.Close()
			return forgetful(ctx, c)
		},
		"stays": func(ctx context.Context, c explore.Conn) error { // and does not heed SIGTERM
			go mirror(context.Background(), c)
			select {}
		},
		"notices": func(ctx context.Context, c explore.Conn) error {
			idle, err := net.Dial("tcp", strings.TrimPrefix(c.Host, "http://"))
			if err != nil {
				return err
			}
			c.Transport = noticing{c.Transport, idle}
			return mirror(ctx, c)
		},
		"parent": func(ctx context.Context, c explore.Conn) error {
			if err := exec.Command("sh", "-c", "exec 3>$FIFO; sleep 1000").Start(); err != nil {
				return err
			}
			return mirror(ctx, c)
		},
	}
}

// noticing asks for a Lease, by a connection that is open, after each request that gets no answer.
type noticing struct {
	http.RoundTripper
	idle net.Conn
}

func (n noticing) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.RoundTripper.RoundTrip(r)
	if err != nil {
		fmt.Fprint(n.idle, "GET /apis/coordination.k8s.io/v1/namespaces/default/leases/noticed HTTP/1.1\r\nHost: api\r\n\r\n")
	}
	return resp, err
}

// authorized sends the token of a kubeconfig, if there is one.
type authorized struct {
	http.RoundTripper
	token string
}

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.RoundTripper.RoundTrip(r)
}

// connOf returns the connection that a kubeconfig describes. The files here are JSON.
func connOf(file string) explore.Conn {
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct{ User struct{ Token string } }
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	if err != nil || len(config.Clusters) == 0 || len(config.Users) == 0 {
		return explore.Conn{}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.Clusters[0].Cluster.CA)
	transport := authorized{&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, config.Users[0].User.Token}
	return explore.Conn{Host: config.Clusters[0].Cluster.Server, Transport: transport}
}

// writes never rests.
func writes(ctx context.Context, c explore.Conn) error {
	leases, _, err := collections(c)
	if err != nil {
		return err
	}
	go mirror(ctx, c)
	l, err := leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "busy"}}, store.CreateOptions{})
	for n := 0; err == nil && ctx.Err() == nil; n++ {
		l.Annotations = map[string]string{"n": fmt.Sprint(n)}
		l, err = leases.Update(ctx, l, store.UpdateOptions{})
		time.Sleep(50 * time.Millisecond)
	}
	return err
}
