package controllerruntime_test

import (
	"context"
	"fmt"
	"log"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// Two lines start a server where a test would start envtest, and a third makes
// the rest.Config for controller-runtime. Nothing is downloaded and nothing
// listens.
func Example() {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{})
	config := &rest.Config{Host: "http://kubecoord", Transport: api.Transport()}
	defer st.Close()
	defer api.Close()

	ctx, cancel := context.WithCancel(context.Background())
	mgr, err := ctrl.NewManager(config, manager.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		log.Fatal(err)
	}
	err = builder.ControllerManagedBy(mgr).For(&coordinationv1.Lease{}).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			defer cancel()
			l := &coordinationv1.Lease{}
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, l); err != nil {
				return reconcile.Result{}, err
			}
			fmt.Println(req.NamespacedName, "is held by", *l.Spec.HolderIdentity)
			return reconcile.Result{}, nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	err = c.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("me")},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := mgr.Start(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: default/hello is held by me
}
