package lease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// tardy is a Client that keeps the next update, to do it later. Its sender gets no answer.
type tardy struct {
	Client
	keep bool
	kept func() error
}

func (c *tardy) Update(ctx context.Context, l *Lease, opts store.UpdateOptions) (*Lease, error) {
	if c.keep {
		c.keep = false
		late := new(*l)
		c.kept = func() error {
			_, err := c.Client.Update(context.WithoutCancel(ctx), late, opts)
			return err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return c.Client.Update(ctx, l, opts)
}

func TestReleaseWithoutAnAnswerEndsTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &tardy{Client: newLeases(t, store.Options{})}
		leases := client.Client.(*store.Collection[Lease])
		c := contenderBy(t, client, ContenderOptions{ReleaseOnCancel: true})
		var first Holding
		start := time.Now()
		assert.ErrorIs(t, c.Run(t.Context(), func(_ context.Context, h Holding) { first, client.keep = h, true }), errSlow)
		assert.Equal(t, 5*time.Second, time.Since(start), "half of RenewDeadline")
		_, held := c.Held()
		assert.False(t, held, "the release may still come")
		assert.ErrorIs(t, c.Renew(t.Context()), ErrLost)

		require.NoError(t, c.Run(t.Context(), func(_ context.Context, h Holding) {
			assert.Equal(t, 5*time.Second, time.Since(start), "it contends at once")
			assert.Greater(t, h.FencingToken, first.FencingToken)
			assert.ErrorIs(t, client.kept(), store.ErrConflict, "the late release")
			assert.Equal(t, "c", *get(t, leases).Spec.HolderIdentity)
		}))
	})
}

func TestReleaseThatComesLateFreesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &tardy{Client: newLeases(t, store.Options{})}
		leases := client.Client.(*store.Collection[Lease])
		c := contenderBy(t, client, ContenderOptions{ReleaseOnCancel: true})
		assert.ErrorIs(t, c.Run(t.Context(), func(context.Context, Holding) { client.keep = true }), errSlow)
		require.NoError(t, client.kept())
		b := newContender(t, leases, "b")
		require.True(t, try(t, b))
		assert.False(t, try(t, c), "another holds it now")
		require.NoError(t, c.Release(t.Context()))
		assert.NoError(t, b.Renew(t.Context()))
	})
}

// The process of another Contender with the same name may lead.
func TestContenderWaitsForALeaseOfItsNameThatItDidNotRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &tardy{Client: newLeases(t, store.Options{})}
		c := contenderBy(t, client, ContenderOptions{ReleaseOnCancel: true})
		assert.ErrorIs(t, c.Run(t.Context(), func(context.Context, Holding) { client.keep = true }), errSlow)
		bump(t, client.Client.(*store.Collection[Lease]), 7)
		assert.False(t, try(t, c))
	})
}
