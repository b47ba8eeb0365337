package admission

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/clock"
)

// validateBy makes all writes of ConfigMaps ask a webhook.
func (s *server) validateBy(h http.HandlerFunc) {
	webhook := httptest.NewTLSServer(h)
	s.Cleanup(webhook.Close)
	none := admissionv1.SideEffectClassNone
	_, err := s.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(s.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "all"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "all.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{
				URL: &webhook.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw}),
			},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.OperationAll},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}, metav1.CreateOptions{})
	require.NoError(s, err)
}

func (s *server) createConfigMap(ctx context.Context, name string) error {
	_, err := s.client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// allow answers a review.
func allow(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    map[string]any `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{"uid": review.Request["uid"], "allowed": true},
	})
}

func withClock(c clock.Clock) func(*apitest.Options) {
	return func(o *apitest.Options) { o.Store.Clock = c }
}

func TestHangingWebhookTimesOutByTheClockOfTheStore(t *testing.T) {
	s := newServer(t, Options{Runs: runs("Webhook")}, withClock(clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))))
	called := make(chan struct{})
	s.validateBy(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices the end of a client only then
		close(called)
		<-r.Context().Done()
	})
	failed := make(chan error)
	go func() { failed <- s.createConfigMap(t.Context(), "a") }()
	<-called
	s.api.FastForward(10 * time.Second)
	assert.ErrorContains(t, <-failed, "?timeout=10s\": context deadline exceeded")
}

// Each call of the webhook makes one more, until the first one times out.
func TestWebhookThatCallsItselfEnds(t *testing.T) {
	s := newServer(t, Options{Runs: runs("Webhook")}, withClock(clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))))
	var calls atomic.Int32
	deep := make(chan struct{})
	s.validateBy(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		if n == 20 {
			_, _ = io.Copy(io.Discard, r.Body)
			close(deep)
			<-r.Context().Done()
			return
		}
		if err := s.createConfigMap(r.Context(), fmt.Sprintf("a-%d", n)); err == nil {
			allow(w, r)
		}
	})
	failed := make(chan error)
	go func() { failed <- s.createConfigMap(t.Context(), "a") }()
	<-deep
	s.api.FastForward(10 * time.Second)
	assert.ErrorContains(t, <-failed, "context deadline exceeded")
	all, err := s.client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, all.Items)
}

func TestAnswerOfAWebhookIsBounded(t *testing.T) {
	s := newServer(t, Options{Runs: runs("Webhook")})
	s.validateBy(func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for range 18 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	assert.ErrorContains(t, s.createConfigMap(t.Context(), "a"), `failed calling webhook "all.example.com": failed to call webhook: `)
	assert.ErrorContains(t, s.createConfigMap(t.Context(), "a"), "the answer has more than 16777216 bytes")
}

func TestConfigurationAppliesFromTheNextWriteOn(t *testing.T) {
	s := newServer(t, Options{Runs: runs("Webhook")})
	configurations := s.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	require.NoError(t, s.createConfigMap(t.Context(), "a"))
	s.validateBy(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	for range 3 {
		assert.ErrorContains(t, s.createConfigMap(t.Context(), "b"), "failed calling webhook")
		have, err := configurations.Get(t.Context(), "all", metav1.GetOptions{})
		require.NoError(t, err)
		ignore := admissionv1.Ignore
		have.Webhooks[0].FailurePolicy = &ignore
		_, err = configurations.Update(t.Context(), have, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, s.createConfigMap(t.Context(), "b"))
		require.NoError(t, configurations.Delete(t.Context(), "all", metav1.DeleteOptions{}))
		require.NoError(t, s.client.CoreV1().ConfigMaps("default").Delete(t.Context(), "b", metav1.DeleteOptions{}))
		s.validateBy(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	}
}

func TestWritersAndConfigurationsMayChangeAtOnce(t *testing.T) {
	s := newServer(t, Options{Runs: runs("")})
	done := make(chan error, 4)
	for w := range 4 {
		go func() {
			for i := range 10 {
				if err := s.createConfigMap(t.Context(), fmt.Sprintf("a-%d-%d", w, i)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 5 {
		s.validateBy(allow)
		require.NoError(t, s.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "all", metav1.DeleteOptions{}))
	}
	for range 4 {
		assert.NoError(t, <-done)
	}
}
