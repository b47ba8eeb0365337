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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/store/kube/envtest"
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
