package envtest_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// hooks answers reviews: it refuses objects with the name "no", and answers others named "slow" only when their request ends.
func hooks() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if review.Request.Name == "slow" {
			<-r.Context().Done()
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: review.Request.Name != "no"}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	})
}

func TestWebhooksInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &envtest.Environment{
			InProcess: true, TB: t, WebhookHandler: hooks(),
			WebhookInstallOptions: envtest.WebhookInstallOptions{
				ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{{
					ObjectMeta: metav1.ObjectMeta{Name: "hooks"},
					Webhooks: []admissionregistrationv1.ValidatingWebhook{{
						Name: "hooks.example.com",
						ClientConfig: admissionregistrationv1.WebhookClientConfig{
							Service: &admissionregistrationv1.ServiceReference{Namespace: "system", Name: "hooks", Path: new("/validate")},
						},
						Rules: []admissionregistrationv1.RuleWithOperations{{
							Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
							Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
						}},
						SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
						TimeoutSeconds: new(int32(7)),
					}},
				}},
			},
		}
		cfg, err := env.Start()
		require.NoError(t, err)
		client, err := kubernetes.NewForConfig(cfg)
		require.NoError(t, err)
		create := func(name string) error {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), m, metav1.CreateOptions{})
			return err
		}
		require.NoError(t, create("yes"))
		assert.EqualError(t, create("no"), `admission webhook "hooks.example.com" denied the request without explanation`)
		began := time.Now()
		assert.ErrorContains(t, create("slow"), "context deadline exceeded")
		assert.Equal(t, 7*time.Second, time.Since(began), "the time of the bubble")
		require.NoError(t, env.Stop())
	})
}

// renames converts reviews: spec.size of v1 is spec.length of v1beta1. An object named "slow" is never converted.
func renames() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || r.URL.Path != "/convert" {
			http.Error(w, "want a review at /convert", http.StatusBadRequest)
			return
		}
		request := review.Request
		review.Response = &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		from, to := "size", "length"
		if request.DesiredAPIVersion == "example.com/v1" {
			from, to = to, from
		}
		for _, raw := range request.Objects {
			o := &unstructured.Unstructured{}
			if err := json.Unmarshal(raw.Raw, o); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			if o.GetName() == "slow" {
				<-r.Context().Done()
				return
			}
			value, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", from)
			o.SetAPIVersion(request.DesiredAPIVersion)
			o.Object["spec"] = map[string]any{to: value}
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: o})
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	})
}

func TestConversionsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crd := widgets()
		beta := crd.Spec.Versions[0]
		beta.Name, beta.Storage = "v1beta1", false
		crd.Spec.Versions = append(crd.Spec.Versions, beta)
		env := &envtest.Environment{
			InProcess: true, TB: t, WebhookHandler: renames(), CRDs: []*apiextensionsv1.CustomResourceDefinition{crd},
			WebhookInstallOptions: envtest.WebhookInstallOptions{IgnoreSchemeConvertible: true},
		}
		cfg, err := env.Start()
		require.NoError(t, err)
		in := func(cfg *rest.Config, version string) dynamic.ResourceInterface {
			client, err := dynamic.NewForConfig(cfg)
			require.NoError(t, err)
			return client.Resource(schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "widgets"}).Namespace("default")
		}
		create := func(version, name, member string) error {
			_, err := in(cfg, version).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/" + version, "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": map[string]any{member: int64(3)},
			}}, metav1.CreateOptions{})
			return err
		}
		require.NoError(t, create("v1beta1", "a", "length"))
		check := func(cfg *rest.Config) {
			for version, want := range map[string]string{"v1": "size", "v1beta1": "length"} {
				o, err := in(cfg, version).Get(t.Context(), "a", metav1.GetOptions{})
				require.NoError(t, err)
				assert.Equal(t, map[string]any{want: int64(3)}, o.Object["spec"])
			}
		}
		check(cfg)
		fork := env.API().Fork(t)
		check(&rest.Config{Host: fork.Host(), Transport: fork.Transport()})

		began := time.Now()
		err = create("v1beta1", "slow", "length")
		require.Error(t, err)
		// Upstream's client has the request's time limit too, and in a bubble both end at one moment.
		assert.Regexp(t, `context deadline exceeded|Client\.Timeout exceeded`, err.Error())
		assert.Equal(t, 30*time.Second, time.Since(began), "the time of the bubble")
		require.NoError(t, create("v1", "slow", "size"))
		_, err = in(cfg, "v1beta1").Get(t.Context(), "slow", metav1.GetOptions{})
		assert.ErrorContains(t, err, "conversion webhook for example.com/v1, Kind=Widget failed")
		assert.Equal(t, time.Minute, time.Since(began))
		_, err = in(cfg, "v1beta1").List(t.Context(), metav1.ListOptions{}) // a 429, which the client repeats
		assert.ErrorContains(t, err, "storage is (re)initializing: failed to list <unspecified>: failed to read one or more widgets.example.com from the storage: StorageError: corrupt object")
		require.NoError(t, env.Stop())
	})
}
