// Package coordinated runs the scenarios of package electiontest with the electors of client-go 0.37. The older versions play them in oldclients.
package coordinated

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/virtualtime"
	"github.com/kubecoord/kubecoord/internal/test/electiontest"
)

func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	virtualtime.HandleErrorsAtOnce()
	os.Exit(m.Run())
}

func TestElectionHandOverAndFailover(t *testing.T) {
	electiontest.Run(t, electiontest.Client{
		Start: start, APIVersion: "v1beta1", ContentType: "application/vnd.kubernetes.protobuf",
	})
}

// start runs a candidate and a coordinated elector, as one process would.
func start(c electiontest.Contender) (stop func(), err error) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://coordination", Transport: c.Transport, QPS: -1})
	if err != nil {
		return nil, err
	}
	offer, _, err := leaderelection.NewCandidate(client, electiontest.Namespace, c.Name, electiontest.Lease,
		c.BinaryVersion, c.EmulationVersion, coordinationv1.OldestEmulationVersion)
	if err != nil {
		return nil, err
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: electiontest.Namespace, Name: electiontest.Lease},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: c.Name},
		},
		LeaseDuration: electiontest.LeaseDuration, RenewDeadline: electiontest.RenewDeadline, RetryPeriod: electiontest.RetryPeriod,
		Coordinated: true,
		Callbacks:   leaderelection.LeaderCallbacks{OnStartedLeading: c.Started, OnStoppedLeading: c.Stopped},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { offer.Run(ctx) })
	wg.Go(func() { elector.Run(ctx) })
	return func() { cancel(); wg.Wait() }, nil
}
