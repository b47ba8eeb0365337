package kube_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/store"
)

// A controller's own type needs no second definition. With a client.Client in place of the store, the same code works over a
// network.
func ExampleIn() {
	ctx := context.Background()
	st := store.New(store.Options{})
	defer st.Close()
	backups, err := kube.In[Backup](backupKind, st)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := backups.Create(ctx, &Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"},
		Spec:       BackupSpec{Schedule: "0 3 * * *"},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"}}
	if b, err = backups.Status().Update(ctx, b, store.UpdateOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Name, b.Spec.Schedule, b.Status.Conditions[0].Type, "generation", b.Generation)

	// Output:
	// nightly 0 3 * * * Ready generation 1
}
