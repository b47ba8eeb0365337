package migrate

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// start returns the API server of a test, and the configuration of its clients.
func start(t *testing.T, objects ...runtime.Object) (*apitest.API, *rest.Config) {
	env := &envtest.Environment{InProcess: true, TB: t, CRDDirectoryPaths: []string{"testdata/crds"}}
	config, err := env.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Stop()) })
	add(t, env.API(), objects...)
	return env.API(), config
}

// add stores objects with their status.
func add(t *testing.T, api *apitest.API, objects ...runtime.Object) {
	for _, object := range objects {
		object = object.DeepCopyObject()
		kind, err := apiutil.GVKForObject(object, clientgoscheme.Scheme)
		require.NoError(t, err)
		object.GetObjectKind().SetGroupVersionKind(kind)
		data, err := json.Marshal(object)
		require.NoError(t, err)
		require.NoError(t, api.Handler().Load(t.Context(), fixture.Stream(kind.Kind, bytes.NewReader(data))))
	}
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// newWebhook returns a configuration whose webhook cannot be reached, so that ConfigMaps are refused.
func newWebhook() *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "deny"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "deny.example.com", ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
}
