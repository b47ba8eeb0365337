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

// While a program waits for a processor the quiet is not over, up to a bound.
func TestRestWaitsForLateProgram(t *testing.T) {
	waited := time.Second
	w := &lacks{waited: func() time.Duration { return waited }, looks: []look{{0, waited}}, first: look{0, waited}}
	at := func(last, now time.Duration) time.Duration {
		return w.since(last*time.Millisecond, time.Second, now*time.Millisecond)
	}
	assert.Zero(t, at(0, 20))
	waited += 300 * time.Millisecond
	assert.Zero(t, at(0, 600), "too early for a rest")
	assert.Equal(t, 300*time.Millisecond, at(0, 1000))
	waited += time.Hour
	assert.Equal(t, 3*time.Second, at(0, 1200))
	assert.Zero(t, at(1300, 1320), "something has happened")
	assert.Zero(t, at(1300, 2300))
	assert.Equal(t, time.Hour+300*time.Millisecond, w.all())
}
