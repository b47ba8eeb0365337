package lease

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// strayAnswers are answers of something that is not the server of the Lease.
func strayAnswers() map[string]error {
	none := meta.NewStatusError(http.StatusNotFound, meta.ReasonNotFound, nil, "the server could not find the requested resource")
	return map[string]error{
		"404 that names nothing":        none,
		"404 that names another Lease":  meta.NewNotFound(meta.GroupResource{Resource: "leases"}, "other"),
		"404 that names another kind":   meta.NewNotFound(meta.GroupResource{Resource: "services"}, name),
		"404 that calls itself so":      cutOff{meta.NewNotFound(meta.GroupResource{Resource: "leases"}, name)},
		"404 around such a Status":      wrapped{errors.New("a page"), none},
		"409 that calls itself so":      cutOff{meta.NewStatusError(http.StatusConflict, meta.ReasonConflict, nil, "a page")},
		"403":                           errForbidden,
		"401":                           meta.NewStatusError(http.StatusUnauthorized, meta.ReasonUnauthorized, nil, "Unauthorized"),
		"something that has no Status":  errors.New("strange"),
		"something that says it is not": lasting{errors.New("strange")},
	}
}

// wrapped is a temporary error with a Status in it.
type wrapped struct {
	error
	status error
}

func (w wrapped) Unwrap() error { return w.status }

func (wrapped) Temporary() bool { return true }

func TestLeaderSurvivesAnswersThatAreNotAboutItsLease(t *testing.T) {
	for name, answer := range strayAnswers() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c := newRemote(t)
				time.AfterFunc(5*time.Second, func() { r.set(func() error { return answer }, nil, false) })
				time.AfterFunc(11*time.Second, func() { r.set(nil, nil, false) })
				require.NoError(t, c.Run(t.Context(), func(ctx context.Context, _ Holding) {
					time.Sleep(time.Minute)
					assert.NoError(t, context.Cause(ctx))
				}))
			})
		})
	}
}

func TestTermThatEndsHasItsCauseOnce(t *testing.T) {
	for name, answer := range strayAnswers() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c := newRemote(t)
				time.AfterFunc(5*time.Second, func() { r.set(func() error { return answer }, nil, false) })
				start := time.Now()
				var why error
				err := c.Run(t.Context(), untilDone(&why))
				for _, err := range []error{err, why} {
					assert.ErrorIs(t, err, ErrLost)
					assert.ErrorIs(t, err, answer)
					assert.Equal(t, 1, strings.Count(err.Error(), answer.Error()), err)
					assert.NotContains(t, err.Error(), "\n")
				}
				assert.Equal(t, 14*time.Second, time.Since(start), "RenewDeadline after the renewal at 4s")
			})
		})
	}
}

func TestLossNamesItsReason(t *testing.T) {
	for want, lose := range map[string]func(t *testing.T, leases *store.Collection[Lease]){
		"lease: not held, or no longer held: it was deleted":       remove,
		`lease: not held, or no longer held: its holder is "next"`: func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "next", time.Minute, time.Now()) },
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := newLeases(t, store.Options{})
				c := newContender(t, leases, "c")
				start := time.Now()
				time.AfterFunc(time.Second, func() { lose(t, leases) })
				var why error
				assert.EqualError(t, c.Run(t.Context(), untilDone(&why)), want)
				assert.EqualError(t, why, want)
				assert.Equal(t, time.Second, time.Since(start), "at once")
			})
		})
	}
}

func TestCauseIsPrintedOnce(t *testing.T) {
	cause := errors.New("cause")
	assert.Equal(t, cause, because(nil, cause))
	assert.Equal(t, cause, because(cause, nil))
	assert.NoError(t, because(nil, nil))
	assert.Equal(t, cause, because(cause, cause))
	for want, err := range map[string]error{
		"lost: cause":  because(errors.New("lost"), cause),
		"my cause":     because(errors.New("my cause"), cause),
		"cause":        because(errors.New("cause"), cause),
		"cause of all": because(cause, errors.New("cause of all")),
	} {
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, cause)
	}
}
