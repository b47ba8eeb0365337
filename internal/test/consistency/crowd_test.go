package consistency_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crowd is clients that write, read and watch concurrently.
type crowd struct {
	*door
	t testing.TB
}

// write sends a random request. The server refuses some of them.
func (c *crowd) write(rnd *rand.Rand) {
	name := string(rune('a' + rnd.IntN(5)))
	path, merge := leases+"/"+name, []string{"Content-Type", "application/merge-patch+json"}
	switch rnd.IntN(6) {
	case 0, 1:
		c.do(c.t, "POST", leases, leaseNamed(name))
	case 2, 3:
		c.do(c.t, "PATCH", path, fmt.Sprintf(`{"metadata":{"labels":{"app":"%d"}}}`, rnd.IntN(3)), merge...)
	case 4:
		c.do(c.t, "DELETE", path, "")
	case 5:
		a := c.do(c.t, "GET", path, "")
		if a.code == http.StatusOK {
			c.do(c.t, "PUT", path, strings.Replace(a.body, `"spec":{`, `"spec":{"leaseTransitions":`+fmt.Sprint(rnd.IntN(9)), 1))
		}
		c.do(c.t, "GET", leases, "")
	}
}

// watchAll opens watches of all kinds and reads them until ctx ends.
func (c *crowd) watchAll(ctx context.Context, rnd *rand.Rand) {
	for ctx.Err() == nil {
		query := []string{"", "&resourceVersion=0", withInitial, "&resourceVersion=1000"}[rnd.IntN(4)] +
			[]string{"", "&labelSelector=app%3D1", "&fieldSelector=metadata.name%3Da"}[rnd.IntN(3)]
		req, err := http.NewRequestWithContext(ctx, "GET", c.base+leases+"?watch=true"+query, nil)
		if !assert.NoError(c.t, err) {
			return
		}
		req.Header.Set("Accept", []string{"application/json", "application/vnd.kubernetes.protobuf;stream=watch"}[rnd.IntN(2)])
		resp, err := c.client.Do(req)
		if err != nil {
			return // ctx has ended
		}
		io.CopyN(io.Discard, resp.Body, rnd.Int64N(20000))
		resp.Body.Close()
	}
}

func TestReportAcceptsConcurrentClients(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		c := &crowd{d, t}
		ctx, cancel := context.WithCancel(t.Context())
		var writers, watchers sync.WaitGroup
		for i := range uint64(3) {
			writers.Go(func() {
				rnd := rand.New(rand.NewPCG(i, 1))
				for range 40 {
					c.write(rnd)
					if rnd.IntN(20) == 0 {
						assert.Empty(t, d.Report().Findings, "while the clients are running")
					}
				}
			})
			watchers.Go(func() { c.watchAll(ctx, rand.New(rand.NewPCG(i, 2))) })
		}
		writers.Wait()
		cancel()
		watchers.Wait()
		v := d.Report()
		require.Empty(t, v.Findings)
		assert.Greater(t, v.Changes, 20)
		assert.NotZero(t, v.Watches)
	})
}
