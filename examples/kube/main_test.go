package main

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

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
			all, err := f.Kinds()
			require.NoError(t, err)
			api := apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: all}, Fixtures: f.Definitions()})
			served := map[string]bool{}
			for _, k := range api.Handler().Kinds() {
				served[k.Registered().Info().Plural] = true
			}
			assert.Equal(t, []bool{row.pods, row.gadgets}, []bool{served["pods"], served["gadgets"]})
			assert.True(t, served["customresourcedefinitions"])
		})
	}
	f, err := parse(t, "-kinds", "openshift")
	require.NoError(t, err)
	_, err = f.Kinds()
	assert.EqualError(t, err, `-kinds: got "openshift", want client-go or nothing`)
}

func TestFlagSaysWhatTheServerDoes(t *testing.T) {
	var f kinds.Flags
	set := flag.NewFlagSet("kube", flag.ContinueOnError)
	f.Register(set, "client-go")
	f.RegisterCluster(set)
	for _, on := range []bool{false, true} {
		require.NoError(t, set.Parse([]string{"-cluster=" + strconv.FormatBool(on)}))
		all, err := f.Kinds()
		require.NoError(t, err)
		opts := httpapi.Options{Kinds: all}
		require.NoError(t, f.Apply(&opts))
		api := apitest.New(t, apitest.Options{API: opts})
		for path, exists := range map[string]bool{"/api/v1/namespaces/default": on, "/api/v1/namespaces/default/services/kubernetes": on} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api.Host()+path, nil)
			require.NoError(t, err)
			resp, err := api.Transport().RoundTrip(req)
			require.NoError(t, err)
			assert.NoError(t, resp.Body.Close())
			assert.Equal(t, exists, resp.StatusCode == http.StatusOK, path)
		}
	}
}
