package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/validation"
)

// TestValidateNeverPanics validates objects without defaults, filled at random: nil pointers everywhere, no object equal to its
// old one.
func TestValidateNeverPanics(t *testing.T) {
	rules := validation.New(gates.Default())
	rules.Validate("", nil, nil)
	for gvk := range clientgoscheme.Scheme.AllKnownTypes() {
		if gvk.Version != "v1" && gvk.Version != "v2" || strings.HasSuffix(gvk.Kind, "List") || strings.HasSuffix(gvk.Kind, "Options") {
			continue
		}
		for seed := range int64(10) {
			obj, old := random(t, gvk, seed), random(t, gvk, seed+1000)
			for _, sub := range []string{"", "status", "approval", "finalize", "resize", "ephemeralcontainers"} {
				assert.NotPanics(t, func() {
					rules.Validate(sub, obj, nil)
					rules.Validate(sub, obj, old)
					rules.Validate(sub, obj, obj.DeepCopyObject())
				}, "%s %s, seed %d", gvk, sub, seed)
			}
		}
	}
}

// random fills an object. Half of the pointers are nil; strings are often ones that a rule is about.
func random(t *testing.T, gvk schema.GroupVersionKind, seed int64) runtime.Object {
	obj, err := clientgoscheme.Scheme.New(gvk)
	require.NoError(t, err)
	words := []string{"", "a", "Always", "Never", "OnFailure", "1.1.1.1", "::1/64", "10.0.0.0/8", "None", "-", "..", "/", "a/b", "'", "metadata.labels['']",
		"LoadBalancer", "ClusterIP", "Local", "Indexed", "1-", "Exactly", "CAP_SYS_ADMIN", "localhost/", "windows", "linux", "x\\y"}
	randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 3).MaxDepth(14).Funcs(
		func(*runtime.RawExtension, randfill.Continue) {},
		func(s *string, c randfill.Continue) { *s = words[c.Intn(len(words))] },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63()-c.Int63(), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.IntOrString{Type: intstr.Type(c.Intn(2)), IntVal: c.Int31(), StrVal: words[c.Intn(len(words))] + "%"}
		},
	).Fill(obj)
	return obj
}

// FuzzValidate takes bodies of any kind, as new objects and as updates.
func FuzzValidate(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"env":[{"valueFrom":{"fieldRef":{"fieldPath":"a['b']"}}}]}]}}`), []byte(`{"apiVersion":"v1","kind":"Pod"}`))
	f.Add([]byte(`{"apiVersion":"batch/v1","kind":"CronJob","spec":{"schedule":"TZ=0"}}`), []byte(`{"apiVersion":"batch/v1","kind":"CronJob"}`))
	rules := validation.New(gates.Default())
	f.Fuzz(func(t *testing.T, body, oldBody []byte) {
		obj, gvk, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			return
		}
		rules.Validate("", obj, nil)
		old, oldGVK, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(oldBody, nil, nil)
		if err == nil && *gvk == *oldGVK {
			rules.Validate("", obj, old)
			rules.Validate("status", obj, old)
		}
	})
}
