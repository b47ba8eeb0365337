package debug

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// clockView is a clock in an answer.
type clockView struct {
	Now    time.Time `json:"now"`
	Stands bool      `json:"stands"` // a manual clock
}

func (c control) showClock(w http.ResponseWriter, _ *http.Request) error {
	_, manual := c.api.Store().Clock().(*clock.Manual)
	return answer(w, http.StatusOK, clockView{c.api.Store().Clock().Now().UTC(), manual})
}

// maxForward limits one move of a clock.
const maxForward = 366 * 24 * time.Hour

// moveClock moves the clock: Leases expire, watches time out, delays end. It does not wait for
// any of this: a client polls for the outcome.
func (c control) moveClock(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Forward string `json:"forward"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	d, err := parseForward(body.Forward)
	if err != nil {
		return bad(fmt.Errorf("body: forward: %w", err))
	}
	if err := c.forward(r.Context(), d); err != nil {
		return problem(http.StatusConflict, meta.ReasonConflict, fmt.Errorf("clock: %w", err))
	}
	return c.showClock(w, r)
}

// forward moves the clock. What has happened before is recorded first, if that takes less than a second.
func (c control) forward(ctx context.Context, d time.Duration) error {
	m, ok := c.api.Store().Clock().(*clock.Manual)
	if !ok {
		return errors.New("got the real clock, want a manual one: start the server with -clock 2026-01-01T00:00:00Z")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c.rec.Await(ctx)
	m.FastForward(d)
	return nil
}

func parseForward(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxForward {
		return 0, fmt.Errorf(`got %q, want a duration such as "90s", %v at most`, text, maxForward)
	}
	return d, nil
}
