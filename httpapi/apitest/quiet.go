package apitest

import (
	"context"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// WaitQuiet waits until no request that counts has come, or was in progress, for a time by the clock of the store, which begins with
// the call or later. A watch counts only when it begins. counts may be Match.Matches with the Client of a controller, or leave out
// requests that never end, such as the renewals of a Lease. The error is the error of ctx with the last request that
// counts. WaitQuiet sees the requests that Options.KeepRequests keeps. In a testing/synctest bubble goroutines
// may still run when it returns: synctest.Wait waits for them.
func (a *API) WaitQuiet(ctx context.Context, d time.Duration, counts func(Request) bool) error {
	c := a.st.Clock()
	start := a.st.Now()
	for {
		now, since, last := a.st.Now(), start, ""
		for _, r := range a.Requests().Where(counts) {
			end := r.Time.Add(r.Duration)
			switch {
			case r.Verb == "watch":
				end = r.Time
			case !r.Done:
				end = now
			}
			if !end.Before(since) {
				since, last = end, r.String()
			}
		}
		left := d - now.Sub(since)
		if left <= 0 {
			return nil
		}
		waiting, cancel := clock.WithDeadline(ctx, c, c.Now().Add(left), nil)
		<-waiting.Done()
		cancel()
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("apitest.WaitQuiet: %w; the last request: %s", err, last)
		}
	}
}
