package first

import (
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"testing"
)

func TestNamespace(t *testing.T) {
	env := &envtest.Environment{InProcess: true, TB: t} // CRDDirectoryPaths adds your kinds
	config, err := env.Start()                          // for client-go and for managers of controller-runtime
	if err != nil {
		t.Fatal(err)
	}
	ns, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(ns.Name, ns.Status.Phase)
}
