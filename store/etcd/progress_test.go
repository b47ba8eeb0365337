package etcd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// etcd may drop a request, so it is repeated: soon while somebody waits for the answer.
func TestWhenProgressIsAskedForNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		p := &progress{timer: time.NewTimer(silence), request: func() { requests++ }}
		next := func() time.Duration {
			start := time.Now()
			<-p.timer.C
			return time.Since(start)
		}
		p.ask()
		assert.Equal(t, silence, next(), "nobody waits")
		p.want()
		assert.Equal(t, 1, requests, "the first may be on its way")
		assert.Equal(t, askAgain, next())
		p.ask()
		assert.Equal(t, 2, requests)
		p.want()
		assert.Equal(t, 2, requests)
		assert.Equal(t, askAgain, next())

		p.answered(true)
		assert.Equal(t, askSoon, next(), "the answer was too old")
		p.ask()
		p.answered(false)
		assert.Equal(t, silence, next())
		p.answered(true)
		assert.Equal(t, silence, next(), "nobody waits for a newer one")
		p.want()
		assert.Equal(t, 4, requests)
		assert.Equal(t, askAgain, next())
	})
}
