package explore

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A rest comes a little more than Options.Quiet after the last write, not after a second whole Quiet in which nothing happened.
func TestARestComesSoonAfterTheLastWrite(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		sleep(ctx, 2*time.Second)
		_, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
		return err
	})}
	lines, found := lived(t, s, "lost-answer create endpoints default/a #1")
	assert.Empty(t, found)
	assert.Contains(t, lines, "1m2s controller: create endpoints default/a no answer, carried out")
	assert.Contains(t, lines, "2m4s : all controllers are started again")
}
