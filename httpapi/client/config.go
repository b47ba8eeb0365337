package client

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config says where a server is and how to reach it. Only Server or Servers is required. Kubeconfig
// returns the Config of a file.
type Config struct {
	// Server is the URL of the server, such as "https://10.0.0.1:6443". Its path, if it has
	// one, comes before the paths of the API.
	Server string
	// Servers, in place of Server, are the URLs of several servers with one state: the API
	// servers of a cluster, or kubecoord servers on one etcd. See "Several servers" in the
	// package comment.
	Servers []string
	// Token, if not "", is sent as bearer token.
	Token string
	// TokenFile, if not "", is a file with the bearer token, which is sent in place of Token.
	// It is read again after a minute, and after an answer 401.
	TokenFile string
	// TLS has the client certificates and the certificate authorities. Nil means no client
	// certificate, and the authorities of the system. Its NextProtos are ignored.
	TLS *tls.Config
	// Transport, if not nil, sends the requests, for example one of httpapi.API.Transport. TLS
	// must be nil then.
	Transport http.RoundTripper
	// Timeout limits a call whose context has no deadline, with its repetitions, and the time
	// until a server begins its answer to a watch. 0 means 30 seconds, negative means no limit.
	Timeout time.Duration
	// Logger gets a warning when a server gives no answer, with its address and the cause, and
	// an information when it answers again; each once, and without credentials. Nil means
	// slog.Default for the warnings, and no information.
	Logger *slog.Logger
	// UserAgent is the header User-Agent. If the options of a write name no FieldManager, the part
	// before the first slash is the name of the writer in managedFields. "" means the name of the
	// program.
	UserAgent string
}

// Client has the connections to the servers of one Config. All its methods may be called from any goroutine.
type Client struct {
	servers   servers
	http      http.Client
	timeout   time.Duration // of a call without a deadline; 0 or less is none
	userAgent string
	token     token
	own       *http.Transport // nil if the transport is the user's
}

// New returns a Client. It does not connect yet. The error names the field that is wrong.
func New(config Config) (*Client, error) {
	c := &Client{
		userAgent: cmp.Or(config.UserAgent, filepath.Base(os.Args[0])), timeout: cmp.Or(config.Timeout, defaultTimeout),
		token: token{value: config.Token, file: config.TokenFile}, servers: servers{logger: config.Logger},
	}
	if err := c.servers.parse(config); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if strings.ContainsAny(config.Token+c.userAgent, "\r\n") {
		return nil, errors.New("client: Token or UserAgent: got a line break, want a single line")
	}
	switch {
	case config.Transport == nil:
		c.own = newTransport(config.TLS)
		c.http.Transport = c.own
	case config.TLS != nil:
		return nil, errors.New("client: TLS: got it together with Transport, want one of them: a Transport has its own TLS")
	default:
		c.http.Transport = config.Transport
	}
	// A server of this API redirects nothing. Credentials must not go anywhere else.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// parseServer reads Config.Server.
func parseServer(server string) (*url.URL, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("got %q, want http:// or https://, a host, and at most a path after it", u.Redacted())
	}
	return u, nil
}

// defaultTimeout is the default of Config.Timeout.
const defaultTimeout = 30 * time.Second

// Close closes the connections that no request uses. It does nothing if the Config has a Transport.
// The Client can still be used.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// Times after which the other end of a connection counts as gone. A leader renews its Lease over
// the connection of its watch, so with HTTP/2 both together, with a RetryPeriod, must be well below
// lease.DefaultRenewDeadline. client-go waits for 45 seconds.
const (
	pingAfter   = 3 * time.Second
	pingTimeout = 2 * time.Second
)

// newTransport returns a transport with the limits of client-go for connections, except for
// pingAfter and pingTimeout.
func newTransport(config *tls.Config) *http.Transport {
	if config != nil {
		config = config.Clone()
		config.NextProtos = nil
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: config,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 25, IdleConnTimeout: 90 * time.Second,
		Protocols: protocols, HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}
