package scheme

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store/kind"
)

// componentStatuses returns what a kube-apiserver finds out about the rest of the control plane: here are a storage, which works, and
// no scheduler and no controller manager at the ports of the loopback where it looks for them (upstream:
// registry/core/componentstatus, and controlplane, componentStatusStorage).
func componentStatuses() []runtime.Object {
	status := func(name string, healthy corev1.ConditionStatus, message string) runtime.Object {
		return &corev1.ComponentStatus{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Conditions: []corev1.ComponentCondition{{Type: corev1.ComponentHealthy, Status: healthy, Message: message}},
		}
	}
	refused := func(port string) string {
		at := "127.0.0.1:" + port
		return `Get "https://` + at + `/healthz": dial tcp ` + at + `: connect: connection refused`
	}
	return []runtime.Object{
		status("scheduler", corev1.ConditionFalse, refused("10259")),
		status("controller-manager", corev1.ConditionFalse, refused("10257")),
		status("etcd-0", corev1.ConditionTrue, "ok"),
	}
}

// throughPod makes a create of a Binding a create of pods/binding.
func throughPod() *kind.Through { return &kind.Through{Resource: "pods", Subresource: "binding"} }
