package explore

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Four threads for each processor wait for each other.
func TestWaitsForProcessorsAreSeen(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	assert.NoError(t, err)
	before, n := waitedForCPU(self), 4*runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	var all sync.WaitGroup
	for end := time.Now().Add(200 * time.Millisecond); n > 0; n-- {
		all.Go(func() {
			for time.Now().Before(end) {
			}
		})
	}
	all.Wait()
	assert.Greater(t, waitedForCPU(self)-before, 100*time.Millisecond)
}
