package mine

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

func TestServerRefusesWhatARealOneRefuses(t *testing.T) {
	env := &envtest.Environment{InProcess: true, TB: t}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer env.Stop()
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = clientset.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "Not a name"}}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Fatal("got", err)
	}
}
