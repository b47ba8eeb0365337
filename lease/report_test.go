package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// reports records the reports of a Contender, with the time since its start.
type reports struct {
	start time.Time
	lines []string
}

func (r *reports) add(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf("%s ", time.Since(r.start))+fmt.Sprintf(format, args...))
}

func reportingContender(t *testing.T, client Client) (*Contender, *reports) {
	r := &reports{start: time.Now()}
	return contenderBy(t, client, ContenderOptions{
		ReleaseOnCancel: true,
		OnNewLeader:     func(h Holding) { r.add("%q", h.Holder) },
		OnContact:       func(err error) { r.add("%v", err) },
	}), r
}

func TestLostContactIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &remote{Client: newLeases(t, store.Options{})}
		client.set(func() error { return errCutOff }, nil, false)
		c, r := reportingContender(t, client)
		for at, down := range map[time.Duration]func() error{
			5 * time.Second: nil, 11 * time.Second: func() error { return errUnavailable }, 17 * time.Second: nil,
		} {
			time.AfterFunc(at, func() { client.set(down, nil, false) })
		}
		require.NoError(t, c.Run(t.Context(), func(context.Context, Holding) { time.Sleep(time.Minute) }))
		assert.Equal(t, []string{
			"0s cut off", `6s "c"`, "6s <nil>", "12s try later", "18s <nil>", `1m6s ""`,
		}, r.lines)
	})
}

// Reads succeed and writes do not.
func TestContactNeedsTheWholeStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &slow{Client: newLeases(t, store.Options{})}
		hold(t, client.Client.(*store.Collection[Lease]), "", time.Second, time.Now())
		client.down.Store(true)
		c, r := reportingContender(t, client)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.Error(t, c.Acquire(ctx))
		assert.Equal(t, []string{"0s cut off"}, r.lines)
	})
}

func TestNewLeadersAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		hold(t, leases, "first", time.Minute, time.Now())
		c, r := reportingContender(t, leases)
		for at, holder := range []string{"first", "second", "second", "", "third"} {
			time.AfterFunc(time.Duration(10*at+10)*time.Second, func() { hold(t, leases, holder, time.Hour, time.Now()) })
		}
		assert.ErrorIs(t, c.Run(t.Context(), func(ctx context.Context, _ Holding) { <-ctx.Done() }), ErrLost)
		assert.Equal(t, []string{`0s "first"`, `20s "second"`, `40s ""`, `40s "c"`, `50s "third"`}, r.lines)
	})
}

func TestNothingBelowWarnIsLoggedUnlessThereIsALogger(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	c, err := NewContender(newLeases(t, store.Options{}), ContenderOptions{Namespace: namespace, Name: name, Identity: "c"})
	require.NoError(t, err)
	require.True(t, try(t, c))
	assert.Empty(t, out.String())
	c.contact(errors.New("cause"))
	c.contact(errors.New("cause"))
	assert.Regexp(t, `^time=\S+ level=WARN msg="lease: no contact, trying again" error=cause lease=default/leader identity=c\n$`, out.String())
}

func TestLeaderThatDoesNotStopIsUnhealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &remote{Client: newLeases(t, store.Options{})}
		c, _ := reportingContender(t, client)
		assert.NoError(t, c.Healthy(t.Context()))
		c.Run(t.Context(), func(context.Context, Holding) {
			time.Sleep(time.Hour)
			assert.NoError(t, c.Healthy(t.Context()))
			client.set(func() error { return errCutOff }, nil, false)
			time.Sleep(10 * time.Second)
			time.Sleep(time.Until(c.leads.Load().began.Add(35 * time.Second)))
			assert.NoError(t, c.Healthy(t.Context()))
			time.Sleep(time.Nanosecond)
			assert.EqualError(t, c.Healthy(t.Context()), `lease: "c" still leads 20s after its lease default/leader has expired`)
		})
		assert.NoError(t, c.Healthy(t.Context()), "it leads no more")
	})
}
