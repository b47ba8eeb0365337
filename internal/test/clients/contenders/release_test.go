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

// An elector of client-go that has lost the Lease without having noticed releases
// it all the same when it is stopped, whoever holds it (1.37: tryRelease). A
// Contender in its place notices at once.
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
		assert.Empty(t, holder(t, api), "it was the contender's")
		assert.ErrorIs(t, <-lost, lease.ErrLost)
	})
}

// An elector that cannot renew for RenewDeadline, but can write again then,
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
			assert.NoError(t, (<-led).Err(), "the leader has not been told")
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
