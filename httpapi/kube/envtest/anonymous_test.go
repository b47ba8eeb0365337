package envtest_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
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

// Credentials that the server does not know are refused. Such a request is not one without credentials.
func TestUnknownCredentialsAreNotAnonymous(t *testing.T) {
	var configs []*rest.Config
	for range 2 {
		env := &envtest.Environment{}
		cfg, err := env.Start()
		require.NoError(t, err)
		defer func() { assert.NoError(t, env.Stop()) }()
		configs = append(configs, cfg)
	}
	elsewhere := rest.CopyConfig(configs[0]) // a certificate of the other server's authority
	elsewhere.CertData, elsewhere.KeyData = configs[1].CertData, configs[1].KeyData
	token := rest.AnonymousClientConfig(configs[0])
	token.BearerToken = "unknown"
	apitest := rest.AnonymousClientConfig(configs[0])
	apitest.BearerToken = "apitest"
	for name, cfg := range map[string]*rest.Config{"certificate": elsewhere, "token": token, "the token of tests in process": apitest} {
		client, err := kubernetes.NewForConfig(cfg)
		require.NoError(t, err)
		_, err = client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		assert.True(t, apierrors.IsUnauthorized(err), "%s: %v", name, err)
		_, err = client.Discovery().ServerVersion() // anonymous may read it
		assert.True(t, apierrors.IsUnauthorized(err), "%s: %v", name, err)
	}
	client, err := kubernetes.NewForConfig(rest.AnonymousClientConfig(configs[0]))
	require.NoError(t, err)
	_, err = client.Discovery().ServerVersion()
	assert.NoError(t, err)
}

// A flag of kube-apiserver has its type, also where it has no effect. Flags that kube-apiserver no longer has are passed over.
func TestFlagsHaveTheTypesOfKubeAPIServer(t *testing.T) {
	for flag, want := range map[string]string{
		"anonymous-auth":   `invalid argument "x" for "--anonymous-auth" flag: strconv.ParseBool: parsing "x": invalid syntax`,
		"audit-log-maxage": `invalid argument "x" for "--audit-log-maxage" flag: strconv.ParseInt: parsing "x": invalid syntax`,
		"feature-gates":    "missing bool value for x",
		"insecure-port":    "",
		"no-such-flag":     "",
	} {
		var errs bytes.Buffer
		env := &envtest.Environment{InProcess: true}
		env.ControlPlane.GetAPIServer().Err = &errs
		env.ControlPlane.GetAPIServer().Configure().Set(flag, "x")
		_, err := env.Start()
		if want == "" {
			assert.NoError(t, err, flag)
		} else {
			assert.ErrorContains(t, err, want)
		}
		assert.Equal(t, flag != "anonymous-auth" && flag != "insecure-port" && flag != "feature-gates",
			strings.Contains(errs.String(), "envtest: the flag --"+flag+" has no effect in this server\n"), "%s: %s", flag, &errs)
		assert.NoError(t, env.Stop())
	}
}
