package main

import (
	"bufio"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/examples/kube/kinds"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

const gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// asServer makes the binary of the tests the server itself.
const asServer = "KUBE_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start starts the server in a process, and returns its URL.
func start(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), asServer+"=yes")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	go io.Copy(io.Discard, lines)
	return strings.TrimPrefix(strings.TrimSpace(line), "serving on ")
}

func do(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/yaml")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

func TestMetricsWithEveryFlag(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gadgets.yaml"), []byte(gadgets), 0o600))
	for _, kinds := range []string{"-kinds=client-go", "-kinds="} {
		for _, cluster := range []string{"-cluster=false", "-cluster"} {
			for _, debug := range []string{"-debug=false", "-debug"} {
				for _, crds := range []string{"-crds=", "-crds=" + dir} {
					t.Run(kinds+" "+cluster+" "+debug+" "+crds[:min(len(crds), 7)], func(t *testing.T) {
						url := start(t, kinds, cluster, debug, crds)
						code, text := do(t, "POST", url+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", strings.ReplaceAll(gadgets, "adget", "izmo"))
						require.Equal(t, 201, code, text)
						require.Eventually(t, func() bool {
							code, _ := do(t, "GET", url+"/apis/example.com/v1/gizmos", "")
							return code == 200
						}, time.Minute, 10*time.Millisecond)
						code, text = do(t, "POST", url+"/apis/example.com/v1/namespaces/default/gizmos", "apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: a}\n")
						require.Equal(t, 201, code, text)
						code, text = do(t, "GET", url+"/metrics", "")
						require.Equal(t, 200, code, text)
						objects := func(group, resource string) string {
							return `apiserver_resource_objects{group="` + group + `",resource="` + resource + `"} `
						}
						assert.Contains(t, text, objects("example.com", "gizmos")+"1\n")
						assert.Contains(t, text, objects("coordination.k8s.io", "leasecandidates")+"0\n")
						assert.Equal(t, crds != "-crds=", strings.Contains(text, objects("example.com", "gadgets")+"0\n"))
						assert.Equal(t, cluster == "-cluster", strings.Contains(text, objects("", "namespaces")+"4\n"))
						assert.Equal(t, kinds != "-kinds=", strings.Contains(text, objects("", "serviceaccounts")+"0\n"))
						assert.Regexp(t, `apiserver_request_total\{verb="POST",dry_run="",group="example.com",version="v1",resource="gizmos",.*,code="201"\} 1\n`, text)
					})
				}
			}
		}
	}
}

func parse(t *testing.T, args ...string) (*kinds.Flags, error) {
	t.Helper()
	var f kinds.Flags
	set := flag.NewFlagSet("kube", flag.ContinueOnError)
	f.Register(set, "client-go")
	return &f, set.Parse(args)
}

func TestFlagsChooseTheKinds(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gadgets.yaml"), []byte(gadgets), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"), 0o600))
	for name, row := range map[string]struct {
		args          []string
		pods, gadgets bool
	}{
		"all of client-go":          {nil, true, false},
		"none":                      {[]string{"-kinds", ""}, false, false},
		"definitions":               {[]string{"-kinds", "", "-crds", dir}, false, true},
		"client-go and definitions": {[]string{"-crds", dir}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parse(t, row.args...)
			require.NoError(t, err)
			opts, err := f.API(httpapi.Options{})
			require.NoError(t, err)
			api := apitest.New(t, apitest.Options{API: opts, Fixtures: f.Definitions()})
			served := map[string]bool{}
			for _, k := range api.Handler().Kinds() {
				served[k.Info().Plural] = true
			}
			assert.Equal(t, []bool{row.pods, row.gadgets}, []bool{served["pods"], served["gadgets"]})
			assert.True(t, served["customresourcedefinitions"])
		})
	}
	f, err := parse(t, "-kinds", "openshift")
	require.NoError(t, err)
	_, err = f.API(httpapi.Options{})
	assert.EqualError(t, err, `-kinds: got "openshift", want client-go or nothing`)
}

// With -cluster the example does all that cluster.Options has, but RBAC.
func TestClusterKeepsQuotasAndPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f kinds.Flags
		set := flag.NewFlagSet("kube", flag.ContinueOnError)
		f.Register(set, "client-go")
		f.RegisterCluster(set)
		require.NoError(t, set.Parse([]string{"-cluster"}))
		opts, err := f.API(httpapi.Options{})
		require.NoError(t, err)
		client := &http.Client{Transport: apitest.New(t, apitest.Options{API: opts}).Handler().Transport()}
		send := func(method, path, body string) (int, string) {
			req, err := http.NewRequestWithContext(t.Context(), method, "http://test"+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/yaml")
			resp, err := client.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			data, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			synctest.Wait() // until the controllers have seen it
			return resp.StatusCode, string(data)
		}
		const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
		code, text := send("POST", "/api/v1/namespaces/default/resourcequotas", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {configmaps: 1}}}")
		require.Equal(t, 201, code, text)
		_, text = send("GET", "/api/v1/namespaces/default/resourcequotas/q", "")
		assert.Contains(t, text, `"status":{"hard":{"configmaps":"1"},"used":{"configmaps":"0"}}`)
		code, text = send("POST", "/api/v1/namespaces/default/configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
		assert.Equal(t, 201, code, text)
		code, text = send("POST", "/api/v1/namespaces/default/configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}")
		assert.Equal(t, 403, code, text)
		assert.Contains(t, text, "exceeded quota: q")
		code, text = send("POST", policies, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {matchConstraints: {resourceRules: [
			{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}, validations: [{expression: "object.nothing == 1"}]}}`)
		require.Equal(t, 201, code, text)
		_, text = send("GET", policies+"/p", "")
		assert.Contains(t, text, "undefined field 'nothing'")
	})
}
