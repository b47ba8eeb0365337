package client

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config says where a server is and how to reach it. Only Server is required. Kubeconfig returns
// the Config of a file.
type Config struct {
	// Server is the URL of the server, such as "https://10.0.0.1:6443". Its path, if it has
	// one, comes before the paths of the API.
	Server string
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
	// UserAgent is the header User-Agent. What comes before the first slash is the name of the
	// writer in managedFields if the options of a write have none. "" means the name of the
	// program.
	UserAgent string
}

// Client has the connections to one server. All its methods may be called from any goroutine.
type Client struct {
	base      *url.URL
	http      http.Client
	userAgent string
	token     token
	own       *http.Transport // nil if the transport is the user's
}

// New returns a Client. It does not connect yet. The error names the field that is wrong.
func New(config Config) (*Client, error) {
	base, err := parseServer(config.Server)
	if err != nil {
		return nil, fmt.Errorf("client: Server: %w", err)
	}
	c := &Client{
		base: base, userAgent: cmp.Or(config.UserAgent, filepath.Base(os.Args[0])),
		token: token{value: config.Token, file: config.TokenFile},
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

// Close closes the connections that no request uses. It does nothing if the Config has a Transport.
// The Client can still be used.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// Times after which the other end of a connection counts as gone. A leader renews its Lease over
// the connection of its watch, so with HTTP/2 this must be less than lease.DefaultRenewDeadline.
// client-go waits for 45 seconds.
const (
	pingAfter   = 5 * time.Second
	pingTimeout = 3 * time.Second
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
