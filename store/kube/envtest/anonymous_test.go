package envtest_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/store/kube/envtest"
)

// A server that allows all lets nobody in without credentials, as a kube-apiserver.
func TestAnonymousIsNotAllowedAll(t *testing.T) {
	const warning = "AnonymousAuth is not allowed with the AlwaysAllow authorizer."
	for _, row := range []struct {
		mode, anonymous string
		code            int
		warned          bool
	}{
		{"AlwaysAllow", "true", 401, true},
		{"AlwaysAllow", "false", 401, false},
		{"RBAC", "true", 403, false},
		{"RBAC", "false", 401, false},
	} {
		var errs bytes.Buffer
		env := &envtest.Environment{}
		env.ControlPlane.GetAPIServer().Err = &errs
		env.ControlPlane.GetAPIServer().Configure().Set("authorization-mode", row.mode).Set("anonymous-auth", row.anonymous)
		cfg, err := env.Start()
		require.NoError(t, err)
		rt, err := rest.TransportFor(rest.AnonymousClientConfig(cfg))
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cfg.Host+"/api/v1/pods", nil)
		require.NoError(t, err)
		resp, err := rt.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, row.code, resp.StatusCode, "%v", row)
		req.Header.Set("Authorization", "Bearer rubbish")
		resp, err = rt.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 401, resp.StatusCode, "a stranger, %v", row)
		require.NoError(t, env.Stop())
		assert.Equal(t, row.warned, strings.Contains(errs.String(), warning), "%v: %s", row, &errs)
	}
}
