package scheme_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
)

// A client with types of its own reads what a server of all built-in kinds has set.
func ExampleKinds() {
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: kinds})
	defer api.Close()

	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://kubernetes", Transport: api.Transport()})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{"user": "admin"}}
	secret, err = client.CoreV1().Secrets("default").Create(context.Background(), secret, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s\n", secret.Type, secret.Data["user"])
	// Output: Opaque admin
}

// Widget is a type as kubebuilder makes it.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec `json:"spec,omitempty"`
}

type WidgetSpec struct {
	Size int32 `json:"size,omitempty"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// Options name what the Go types of a controller do not say.
func ExampleOptions() {
	types := runtime.NewScheme()
	types.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1"}, &Widget{})
	kinds, err := scheme.Kinds(types, scheme.Options{Resource: func(kind schema.GroupKind, r *scheme.Resource) {
		r.ShortNames, r.ClusterScoped = []string{"wd"}, true
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	info := kinds[0].Info()
	fmt.Println(info.Plural, info.ShortNames, info.ClusterScoped, info.Status)
	// Output: widgets [wd] true false
}
