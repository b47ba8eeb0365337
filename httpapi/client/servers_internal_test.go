package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"

	"net"
	"net/http"
	"strings"

	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// service is one state behind the servers a, b and c.
type service struct {
	st       *store.Store
	http2    bool
	networks map[string]*network
}

func newService(t *testing.T, pair tls.Certificate, http2 bool) *service {
	t.Helper()
	s := &service{st: store.New(store.Options{}), http2: http2, networks: map[string]*network{}}
	api := httpapi.New(s.st, httpapi.Options{})
	served := make(chan error)
	var servers []*http.Server
	for _, host := range []string{"a", "b", "c"} {
		n := newNetwork()
		server := &http.Server{Handler: api, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}, ErrorLog: log.New(io.Discard, "", 0)}
		if !http2 {
			server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		}
		go func() { served <- server.ServeTLS(n, "", "") }()
		s.networks[host+":443"] = n
		servers = append(servers, server)
	}
	t.Cleanup(func() {
		for _, server := range servers {
			server.Close()
			assert.ErrorIs(t, <-served, http.ErrServerClosed)
		}
		api.Close()
		s.st.Close()
	})
	return s
}

func (s *service) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.networks[address].dial(ctx, network, address)
}

// set makes the servers good, hung or dead, in the order of their names.
func (s *service) set(states string) {
	for i, state := range strings.Fields(states) {
		s.networks[string(rune('a'+i))+":443"].set(state)
	}
}

func (s *service) leases(t *testing.T, config Config) *Collection[lease.Lease] {
	t.Helper()
	config.Servers, config.TLS = []string{"https://a", "https://b", "https://c"}, &tls.Config{InsecureSkipVerify: true}
	c, err := New(config)
	require.NoError(t, err)
	c.own.DialContext = s.dial
	t.Cleanup(c.Close)
	return In(c, lease.Kind())
}

// inService runs a test over HTTP/2 and over HTTP/1.1, which has no pings.
func inService(t *testing.T, test func(t *testing.T, s *service)) {
	pair := certificate(t)
	for name, http2 := range map[string]bool{"HTTP/2": true, "HTTP/1.1": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newService(t, pair, http2)) })
		})
	}
}

// create writes a Lease by the store.
func (s *service) create(t *testing.T, name string) {
	t.Helper()
	_, err := lease.In(s.st).Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}, store.CreateOptions{})
	require.NoError(t, err)
}

// Servers stop while their connections stay open, and new ones are accepted and never answered. With a
// good server left, no leader falls, and a watch goes on.
func TestLeadersKeepTheirTermsWhenServersHang(t *testing.T) {
	inService(t, func(t *testing.T, s *service) {
		s.set("hung dead good")
		ctx, cancel := context.WithCancel(t.Context())
		const leaders = 6
		led, done := make(chan time.Duration, leaders), make(chan error)
		for i := range leaders {
			contender, err := lease.NewContender(s.leases(t, Config{}), lease.ContenderOptions{Namespace: "default", Name: fmt.Sprint("leader-", i), Identity: "me"})
			require.NoError(t, err)
			go func() {
				done <- contender.Run(ctx, func(ctx context.Context, _ lease.Holding) {
					began := time.Now()
					<-ctx.Done()
					led <- time.Since(began)
				})
			}()
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		for i, states := range []string{"good dead hung", "hung good hung", "hung hung good", "dead good dead", "good hung dead", "hung hung good"} {
			s.set(states)
			time.Sleep(time.Minute + time.Duration(i)*700*time.Millisecond)
		}
		cancel()
		for range leaders {
			assert.ErrorIs(t, <-done, context.Canceled)
			assert.Greater(t, <-led, 6*time.Minute)
		}
	})
}

// A watch leaves a server that hangs when another request gets no answer from it. With HTTP/2 it also
// does so alone, by pings.
func TestWatchesLeaveAServerThatHangs(t *testing.T) {
	inService(t, func(t *testing.T, s *service) {
		s.set("good good dead")
		leases := s.leases(t, Config{})
		var hung time.Time
		for ev, err := range leases.Watch(t.Context(), store.WatchOptions{AllowWatchBookmarks: true}) {
			require.NoError(t, err)
			if ev.InitialEventsEnd {
				s.create(t, "first")
				continue
			}
			if ev.Object.Name == "second" {
				break
			}
			synctest.Wait()
			s.set("hung good dead")
			hung = time.Now()
			s.create(t, "second")
			if !s.http2 {
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				_, err := leases.Get(ctx, "default", "second")
				require.NoError(t, err)
				assert.Equal(t, 2*time.Second, time.Since(hung), "half of the time is for the second server")
			}
		}
		assert.LessOrEqual(t, time.Since(hung), 6*time.Second)
	})
}
