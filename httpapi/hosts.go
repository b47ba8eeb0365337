package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// A page of any site can make a browser send requests to a server on the same machine, and
// read the answers after DNS rebinding. Options.Hosts refuses both.

// transportAddr is the address of a client behind a Transport. No socket has port 0.
const transportAddr = "127.0.0.1:0"

// checkOrigin refuses a request for a host that is not in Options.Hosts, and a write of another site's
// page.
func (c *call) checkOrigin() error {
	if c.api.hosts == nil || c.req.RemoteAddr == transportAddr {
		return nil
	}
	reason := ""
	if host := hostOf(c.req.Host); !c.api.hosts[host] && !isLocal(host, c.req) {
		reason = fmt.Sprintf("this server is not known as host %q", c.req.Host)
	} else if err := c.api.crossOrigin.Check(c.req); err != nil {
		reason = fmt.Sprintf("a page of another origin, %q, must not write", c.header("Origin"))
	}
	if reason == "" {
		return nil
	}
	c.noSniff()
	return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, &meta.StatusDetails{}, "forbidden: "+reason)
}

// hostSet returns the hosts as hostOf writes them.
func hostSet(hosts []string) map[string]bool {
	// Only HTTP/1.0 has no host, and no browser. The addresses save isLocal work.
	set := map[string]bool{"localhost": true, "": true, "127.0.0.1": true, "::1": true}
	for _, h := range hosts {
		set[hostOf(h)] = true
	}
	return set
}

// hostOf returns the host without its port, in lower case. An IP address has no brackets.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(host, "]"), "["), ".")
	return strings.ToLower(host)
}

// isLocal reports whether a host is a loopback IP address, or the one at which the request arrived.
func isLocal(host string, r *http.Request) bool {
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || at != nil && at.IP.Equal(ip)
}
