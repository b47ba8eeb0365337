package cluster_test

import (
	"context"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store"
)

// A server of all kinds that enforces RBAC, as the administrator, a user and a ServiceAccount see it.
func ExampleNew() {
	ctx := context.Background()
	server, err := cluster.New(cluster.Options{Reviews: true, RBAC: true}, store.Options{}, httpapi.Options{})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	config := &rest.Config{Host: "http://example", Transport: server.Transport()}
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
func ExampleKubeAPIServer() {
	ctx := context.Background()
	server, err := cluster.New(cluster.KubeAPIServer(), store.Options{}, httpapi.Options{})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://example", Transport: server.Transport()})
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

// A server with a store that the program has made, and fewer kinds: the kinds of the group apps, and what they need.
func ExampleOptions_API() {
	does := cluster.KubeAPIServer()
	does.Serves = func(r schema.GroupVersionResource) bool { return r.Group == "apps" }
	options, err := does.API(httpapi.Options{})
	if err != nil {
		panic(err)
	}
	st := store.New(store.Options{HistoryBytes: 1 << 20})
	defer st.Close()
	api := httpapi.New(st, options)
	defer api.Close()

	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://example", Transport: api.Transport()})
	for _, version := range []string{"v1", "apps/v1", "batch/v1"} {
		list, err := client.Discovery().ServerResourcesForGroupVersion(version)
		if err != nil {
			fmt.Println(version, err)
			continue
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") {
				fmt.Println(version, r.Name)
			}
		}
	}

	// Output:
	// v1 endpoints
	// v1 namespaces
	// v1 services
	// apps/v1 controllerrevisions
	// apps/v1 daemonsets
	// apps/v1 deployments
	// apps/v1 replicasets
	// apps/v1 statefulsets
	// batch/v1 the server could not find the requested resource
}
