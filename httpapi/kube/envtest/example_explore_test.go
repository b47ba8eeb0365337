package envtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// An environment is the API of a scenario, with its definitions, users and controllers. Each run has a fork of it.
func TestAccountsForNamespaces(t *testing.T) {
	env := &envtest.Environment{InProcess: true, TB: t, NamespaceDeletion: true}
	if _, err := env.Start(); err != nil {
		t.Fatal(err)
	}
	explore.Run(t, explore.Scenario{
		API:         env.API(),
		Controllers: []explore.Controller{{Name: "accounts", Run: makeAccounts}},
		Steps: []explore.Step{
			{Name: "create a namespace", Do: func(ctx context.Context, c explore.Conn) error {
				_, err := connect(c).CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{})
				return err
			}},
			{Name: "delete it", Do: func(ctx context.Context, c explore.Conn) error {
				return connect(c).CoreV1().Namespaces().Delete(ctx, "shop", metav1.DeleteOptions{})
			}},
		},
	}, explore.Options{Budget: 5 * time.Second})
}

// makeAccounts makes the ServiceAccount default of each namespace, until ctx ends.
func makeAccounts(ctx context.Context, c explore.Conn) error {
	client := connect(c)
	for ctx.Err() == nil {
		_ = makeMissing(ctx, client) // the next round tries again
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
	}
	return nil
}

func makeMissing(ctx context.Context, client kubernetes.Interface) error {
	namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	accounts, err := client.CoreV1().ServiceAccounts("").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, a := range accounts.Items {
		have[a.Namespace] = true
	}
	for _, ns := range namespaces.Items {
		if have[ns.Name] || ns.DeletionTimestamp != nil {
			continue
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		if _, err := client.CoreV1().ServiceAccounts(ns.Name).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

func connect(c explore.Conn) *kubernetes.Clientset {
	return kubernetes.NewForConfigOrDie(&rest.Config{Host: c.Host, Transport: c.Transport, QPS: -1})
}
