package httpapi

import (
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/tally"
)

// limits counts the requests in flight (upstream: apiserver,
// server/filters/maxinflight.go).
type limits struct {
	readsMost, writesMost int // 0: no limit
	reads, writes         atomic.Int64

	watches *tally.Clients // by the host of the client
}

// privileged is the group whose requests are never refused for load.
const privileged = "system:masters"

// enter counts a request of a user, until leave is called. If there are too many it
// answers 429 and returns false.
func (c *call) enter(user User) bool {
	l := &c.api.limits
	if c.watches { // a real server has no limit for these
		if c.leaveWatch = l.watches.Take(tally.Host(c.req.RemoteAddr)); c.leaveWatch == nil {
			c.tooManyRequests()
			return false
		}
		return true
	}
	count, most := &l.writes, l.writesMost
	if c.req.Method == http.MethodGet || c.req.Method == http.MethodHead {
		count, most = &l.reads, l.readsMost
	}
	if most <= 0 {
		return true
	}
	if count.Add(1) > int64(most) && !slices.Contains(user.Groups, privileged) {
		count.Add(-1)
		c.tooManyRequests()
		return false
	}
	c.counted = count
	return true
}

// leave ends what enter began.
func (c *call) leave() {
	if c.counted != nil {
		c.counted.Add(-1)
	}
	if c.leaveWatch != nil {
		c.leaveWatch()
	}
}

// tooManyRequests answers with a text: a real server has no Status here.
func (c *call) tooManyRequests() {
	c.Header()["Retry-After"] = []string{"1"}
	http.Error(c, "Too many requests, please try again later.", http.StatusTooManyRequests)
}
