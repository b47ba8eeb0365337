package envtest_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// TestRuntimeConfigSwitchesVersionsOnAndNamesWhatIsNotServed: the rest of a suite that names a version of another server can run.
func TestRuntimeConfigSwitchesVersionsOnAndNamesWhatIsNotServed(t *testing.T) {
	var out bytes.Buffer
	env := &envtest.Environment{InProcess: true, TB: t}
	env.ControlPlane.GetAPIServer().Err = &out
	env.ControlPlane.GetAPIServer().Configure().Set("runtime-config", "resource.k8s.io/v1beta2=true,apps/v1beta1=true,no.example.com/v1=true")
	config, err := env.Start()
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	for path, want := range map[string]int{"/apis/resource.k8s.io/v1beta2/deviceclasses": http.StatusOK, "/apis/resource.k8s.io/v1beta1/deviceclasses": http.StatusNotFound} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
		require.NoError(t, err)
		resp, err := client.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, want, resp.StatusCode, path)
	}
	assert.Equal(t, "envtest: --runtime-config: unknown api groups no.example.com/v1\n"+
		"envtest: --runtime-config=apps/v1beta1: this server does not have it\n"+
		"envtest: --runtime-config=no.example.com/v1: this server does not have it\n", out.String())
}
