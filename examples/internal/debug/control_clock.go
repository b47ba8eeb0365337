package debug

import (
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
	d, err := time.ParseDuration(body.Forward)
	if err != nil || d < 0 || d > maxForward {
		return bad(fmt.Errorf(`body: forward: got %q, want a duration such as "90s", %v at most`, body.Forward, maxForward))
	}
	m, ok := c.api.Store().Clock().(*clock.Manual)
	if !ok {
		return problem(http.StatusConflict, meta.ReasonConflict, fmt.Errorf("clock: got the real clock, want a manual one: start the server with -clock 2026-01-01T00:00:00Z"))
	}
	m.FastForward(d)
	return c.showClock(w, r)
}
