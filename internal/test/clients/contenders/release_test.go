package contenders

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// A client-go elector that has lost the Lease without noticing still releases it
// when it is stopped, even if another holds it (1.37: tryRelease). A Contender
// notices at once.
func TestElectorReleasesALeaseThatItHasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, r := testapi.New(t, store.Options{}), newReferee()
		stop := start(t, elector(t, api, r), "elector", true)
		synctest.Wait()
		require.Equal(t, "elector", holder(t, api))

		leases := lease.In(api.Store)
		_, err := leases.Delete(t.Context(), leaseNamespace, leaseName, store.DeleteOptions{})
		require.NoError(t, err)
		c, err := lease.NewContender(leases, lease.ContenderOptions{Namespace: leaseNamespace, Name: leaseName, Identity: "contender"})
		require.NoError(t, err)
		lost := make(chan error, 1)
		go func() { lost <- c.Run(t.Context(), func(ctx context.Context, _ lease.Holding) { <-ctx.Done() }) }()
		synctest.Wait()
		require.Equal(t, "contender", holder(t, api))

		stop()
		assert.Empty(t, holder(t, api), "the elector has released the contender's Lease")
		assert.ErrorIs(t, <-lost, lease.ErrLost)
	})
}

// An elector fails to renew for RenewDeadline, and can then write again. It
// releases the Lease before the context of its leader ends (1.37: renew releases,
// Run cancels after that). With ReleaseOnCancel others may lead before it stops.
func TestElectorThatCannotRenewReleasesBeforeItStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		lock := &lockWithoutRenewals{LeaseLock: resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: leaseNamespace, Name: leaseName},
			Client:     api.Client(t).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "elector"},
		}}
		led := make(chan context.Context, 1)
		le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: lease.DefaultLeaseDuration, RenewDeadline: lease.DefaultRenewDeadline, RetryPeriod: lease.DefaultRetryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) { led <- ctx },
				OnStoppedLeading: func() {},
			},
		})
		require.NoError(t, err)
		lock.atRelease = func() {
			synctest.Wait()
			assert.NoError(t, (<-led).Err(), "the context of the leader has not ended")
		}
		start := time.Now()
		le.Run(t.Context())
		assert.Equal(t, lease.DefaultRenewDeadline, time.Since(start))
		assert.Empty(t, holder(t, api))
		assert.True(t, lock.released)
	})
}

// lockWithoutRenewals is a lock that can only be acquired and released.
type lockWithoutRenewals struct {
	resourcelock.LeaseLock
	atRelease func()
	released  bool
}

func (l *lockWithoutRenewals) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != "" {
		return errors.New("no renewals")
	}
	l.atRelease()
	l.released = true
	return l.LeaseLock.Update(ctx, record)
}
