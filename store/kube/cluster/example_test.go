package cluster_test

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// A server that enforces RBAC, as the administrator, a user and a ServiceAccount see it.
func ExampleOptions_Apply() {
	ctx := context.Background()
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	if err != nil {
		panic(err)
	}
	options := httpapi.Options{Kinds: kinds}
	if err := (cluster.Options{Reviews: true, RBAC: true}).Apply(&options); err != nil {
		panic(err)
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, options)
	defer api.Close()

	config := &rest.Config{Host: "http://example", Transport: api.Transport()}
	admin := kubernetes.NewForConfigOrDie(config)
	asJane := rest.CopyConfig(config)
	asJane.Impersonate = rest.ImpersonationConfig{UserName: "jane"}
	_, err = kubernetes.NewForConfigOrDie(asJane).CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	fmt.Println(err)

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil {
		panic(err)
	}
	token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		panic(err)
	}
	asRobot := rest.CopyConfig(config)
	asRobot.BearerToken = token.Status.Token
	review, err := kubernetes.NewForConfigOrDie(asRobot).AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "get", Resource: "pods"}},
	}, metav1.CreateOptions{})
	fmt.Println(review.Status.Allowed, err)

	// Output:
	// pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"
	// false <nil>
}

// What a kube-apiserver with nothing beside it does: it has namespaces, refuses objects in others, and enforces policies and webhooks.
func ExampleBare() {
	ctx := context.Background()
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	if err != nil {
		panic(err)
	}
	options := httpapi.Options{Kinds: kinds}
	if err := cluster.Bare().Apply(&options); err != nil {
		panic(err)
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, options)
	defer api.Close()

	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://example", Transport: api.Transport()})
	namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	for _, ns := range namespaces.Items {
		fmt.Println(ns.Name, ns.Status.Phase)
	}
	fmt.Println(err)
	lost := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "lost"}}
	_, err = client.CoreV1().ConfigMaps("absent").Create(ctx, lost, metav1.CreateOptions{})
	fmt.Println(err)

	// Output:
	// default Active
	// kube-node-lease Active
	// kube-public Active
	// kube-system Active
	// <nil>
	// namespaces "absent" not found
}
