package envtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

const gadgetsText = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com, labels: {file: %s}}
spec: {group: example.com, names: {plural: gadgets, kind: Gadget}, scope: Cluster}
`

// The last of two definitions with one name is installed (controller-runtime: envtest/crd.go, ReadCRDFiles).
func TestTheLastDefinitionOfANameIsRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"first.yaml", "second.yaml"} {
		text := fmt.Sprintf(gadgetsText, name) + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	o := envtest.CRDInstallOptions{Paths: []string{dir, filepath.Join(dir, "missing")}}
	require.NoError(t, envtest.ReadCRDFiles(&o))
	require.Len(t, o.CRDs, 1)
	assert.Equal(t, map[string]string{"file": "second.yaml"}, o.CRDs[0].Labels)
	o.ErrorIfPathMissing = true
	assert.ErrorIs(t, envtest.ReadCRDFiles(&o), os.ErrNotExist)
}

// A generator names a service in the conversion of a definition. The definition loses it if its types do not convert, also where
// requests install it. The caller's definitions do not change.
func TestConversionsOfTypesThatDoNotConvertAreRemoved(t *testing.T) {
	generated := widgets()
	generated.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "system", Name: "webhook"}},
		},
	}
	approved := widgets()
	approved.Name, approved.Spec.Group = "widgets.example.k8s.io", "example.k8s.io"
	approved.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, a test"}
	old := approved.Spec.Versions[0]
	old.Name, old.Served, old.Storage = "v1beta1", false, false // Start does not wait for it
	approved.Spec.Versions = append(approved.Spec.Versions, old)
	for name, crds := range map[string][]*apiextensionsv1.CustomResourceDefinition{"at once": {generated}, "by requests": {approved, generated}} {
		t.Run(name, func(t *testing.T) {
			env := &envtest.Environment{InProcess: true, CRDs: crds}
			_, err := env.Start()
			require.NoError(t, err)
			defer func() { assert.NoError(t, env.Stop()) }()
			require.Len(t, env.CRDs, len(crds))
			for _, crd := range env.CRDs {
				assert.NotEmpty(t, crd.UID)
				assert.Equal(t, apiextensionsv1.NoneConverter, crd.Spec.Conversion.Strategy)
			}
			assert.Empty(t, generated.UID)
			assert.Equal(t, apiextensionsv1.WebhookConverter, generated.Spec.Conversion.Strategy)
		})
	}
}
