package electiontest

import (
	"maps"
	"net/http"
	"strings"
	"sync"
)

// tap is a transport that records how candidates were written.
type tap struct {
	next http.RoundTripper

	mu    sync.Mutex // guards forms
	forms map[string]bool
}

func newTap(next http.RoundTripper) *tap { return &tap{next: next, forms: map[string]bool{}} }

// RoundTrip passes a request on.
func (p *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	if path := strings.Split(req.URL.Path, "/"); req.Method != http.MethodGet && len(path) > 6 && path[6] == "leasecandidates" {
		p.mu.Lock()
		p.forms[path[3]+" "+req.Header.Get("Content-Type")] = true
		p.mu.Unlock()
	}
	return p.next.RoundTrip(req)
}

func (p *tap) wrote() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.forms)
}
