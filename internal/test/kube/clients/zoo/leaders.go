package zoo

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// leaders makes a Secret for each ConfigMap, in two replicas that elect a leader. The mistake: it goes on after it has lost the Lease, and the
// name of the Secret is generated, so that the server cannot refuse the second one.
func leaders(wrong bool) run { return electing(wrong, false) }

// releasing is leaders with ReleaseOnCancel, so that the Lease is free when the process ends.
func releasing(wrong bool) run { return electing(wrong, true) }

func electing(wrong, release bool) run {
	return func(ctx context.Context, c explore.Conn) error {
		k, err := kubernetes.NewForConfig(config(c))
		if err != nil {
			return err
		}
		e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: "leaders"}, Client: k.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: c.Name},
			},
			ReleaseOnCancel: release,
			LeaseDuration:   15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(leading context.Context) {
					if wrong {
						leading = ctx
					}
					lead(leading, k, wrong)
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		e.Run(ctx)
		if wrong {
			<-ctx.Done()
		}
		return ctx.Err()
	}
}

// lead works until ctx ends.
func lead(ctx context.Context, k kubernetes.Interface, wrong bool) {
	for ctx.Err() == nil {
		_ = leadOnce(ctx, k, wrong)
		wait(ctx, 10*time.Second)
	}
}

func leadOnce(ctx context.Context, k kubernetes.Interface, wrong bool) error {
	parents, err := k.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	children, err := k.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, s := range children.Items {
		have[s.Labels["of"]] = true
	}
	for _, parent := range parents.Items {
		if have[parent.Name] {
			continue
		}
		child := secret(namespace, parent.Name, map[string]string{"of": parent.Name})
		if wrong {
			child.Name, child.GenerateName = "", parent.Name+"-"
		}
		if _, err := k.CoreV1().Secrets(namespace).Create(ctx, child, metav1.CreateOptions{}); unlessExists(err) != nil {
			return err
		}
	}
	return nil
}
