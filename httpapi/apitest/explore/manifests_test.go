package explore_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// files writes files into a new folder.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

const (
	leaseA  = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, labels: {x: z}}\nspec: {holderIdentity: me}\n"
	patchA  = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\nspec: {leaseDurationSeconds: 15}\n"
	nameA   = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\n"
	anyMine = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nspec: {holderIdentity: me}\n"
	subsets = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: e}\nsubsets: [{ports: [{port: 2, name: b}, {port: 1, name: a}], addresses: [{ip: 1.2.3.4}]}]\n"
	port    = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: e}\nsubsets: [{ports: [{port: 1}]}]\n"
)

// done does the steps of a folder, and returns their names and the error of the last one.
func done(t *testing.T, dir string) (api *apitest.API, names []string, err error) {
	t.Helper()
	steps, err := explore.Manifests(dir)
	require.NoError(t, err)
	api = apitest.New(t)
	c := explore.Conn{Host: api.Host(), Transport: api.Transport(), Shared: &sync.Map{}}
	for _, s := range steps {
		names = append(names, s.Name)
		if err = s.Do(t.Context(), c); err != nil {
			break
		}
	}
	return api, names, err
}

// Files with numbers are steps, in their order.
func TestManifestsAreSteps(t *testing.T) {
	api, names, err := done(t, files(t, map[string]string{
		"1-apply-a.yaml": leaseA, "2-patch-a.yaml": patchA, "10-wait-a.yaml": anyMine + "---\n" + patchA, "11-create-e.yml": subsets, "12-assert.yaml": port, "notes.txt": "none",
		"20-delete-a.json": `{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}}`, "21-delete-again.yaml": nameA, "22-errors.yaml": nameA,
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{"1-apply-a", "2-patch-a", "10-wait-a", "11-create-e", "12-assert", "20-delete-a", "21-delete-again", "22-errors"}, names)
	left, err := lease.In(api.Store()).List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, left.Items)
}

// An object that is applied again waits for the end of the one before it.
func TestManifestsWaitForTheEndOfAnObject(t *testing.T) {
	const kept = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, finalizers: [example.com/keep]}\n"
	synctest.Test(t, func(t *testing.T) {
		steps, err := explore.Manifests(files(t, map[string]string{"1-apply-a.yaml": kept, "2-delete-a.yaml": nameA, "3-apply-a.yaml": leaseA}))
		require.NoError(t, err)
		api := apitest.New(t)
		c := explore.Conn{Host: api.Host(), Transport: api.Transport(), Shared: &sync.Map{}}
		for _, s := range steps[:2] {
			require.NoError(t, s.Do(t.Context(), c))
		}
		assert.EqualError(t, steps[2].Do(t.Context(), c), "3-apply-a.yaml: apply Lease a: the object before it is still there after 30s")
		time.AfterFunc(5*time.Second, func() {
			_, err := lease.In(api.Store()).Modify(t.Context(), "default", "a", func(l *lease.Lease) error { l.Finalizers = nil; return nil }, store.UpdateOptions{})
			assert.NoError(t, err)
		})
		require.NoError(t, steps[2].Do(t.Context(), c))
		l, err := lease.In(api.Store()).Get(t.Context(), "default", "a")
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"x": "z"}, l.Labels)
	})
}

// What a folder of kuttl or chainsaw says is done.
func TestManifestsOfOthers(t *testing.T) {
	kuttl := files(t, map[string]string{
		"00-install.yaml": leaseA, "00-assert.yaml": "apiVersion: kuttl.dev/v1beta1\nkind: TestAssert\ntimeout: 5\n---\n" + anyMine,
		"01-remove.yaml": "apiVersion: kuttl.dev/v1beta1\nkind: TestStep\ndelete: [{apiVersion: coordination.k8s.io/v1, kind: Lease, name: a}]\n", "01-errors.yaml": nameA,
	})
	_, names, err := done(t, kuttl)
	require.NoError(t, err)
	assert.Equal(t, []string{"00-install", "00-assert", "01-remove", "01-errors"}, names)

	chainsaw := files(t, map[string]string{"a.yaml": leaseA, "chainsaw-test.yaml": `
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: a}
spec:
  steps:
  - name: install
    try:
    - apply: {file: a.yaml}
    - assert: {resource: {apiVersion: coordination.k8s.io/v1, kind: Lease, spec: {holderIdentity: me}}}
  - try:
    - delete: {ref: {apiVersion: coordination.k8s.io/v1, kind: Lease, name: a}}
    - error: {resource: {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a}}}
`})
	_, names, err = done(t, chainsaw)
	require.NoError(t, err)
	assert.Equal(t, []string{"install", "step 2"}, names)
}

// A step that cannot be done says which manifest, and why.
func TestManifestsFail(t *testing.T) {
	for want, texts := range map[string]map[string]string{
		"1-create.yaml: create Lease a: 409: leases.coordination.k8s.io \"a\" already exists": {"0-apply.yaml": leaseA, "1-create.yaml": leaseA},
		"1-patch.yaml: patch Lease a: not found: leases.coordination.k8s.io \"a\" not found":  {"1-patch.yaml": patchA},
		"1-wait.yaml: wait Lease a: it is not so after 30s; it is not there":                  {"1-wait.yaml": nameA},
		"1-errors.yaml: errors Lease a: it is there after 30s":                                {"0-apply.yaml": leaseA, "1-errors.yaml": nameA},
		"1-apply.yaml: apply Pod a: the server has no kind Pod in v1":                         {"1-apply.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"},
		"1-apply.yaml: apply Job a: the server has no batch/v1":                               {"1-apply.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"},
		"1-wait.yaml: wait Endpoints e: it is not so after 30s; it is {":                      {"0-apply.yaml": subsets, "1-wait.yaml": "apiVersion: v1\nkind: Endpoints\nmetadata: {name: e}\nsubsets: [{ports: [{port: 3}]}]\n"},
	} {
		synctest.Test(t, func(t *testing.T) { // the waits are in virtual time
			_, _, err := done(t, files(t, texts))
			assert.ErrorContains(t, err, want)
		})
	}
}

// A folder that is none of these is refused before anything is done.
func TestManifestsAreChecked(t *testing.T) {
	for want, texts := range map[string]map[string]string{
		"got no manifest, want files such as 1-apply-shop.yaml":                                     {},
		"got the file shop.yaml, want a number, what is done and a name, such as 1-apply-shop.yaml": {"shop.yaml": leaseA},
		`1-apply.yaml: got the apiVersion "" and the kind "Lease", want both`:                       {"1-apply.yaml": "kind: Lease\n"},
		"1-delete.yaml: Lease: got no metadata.name, want one to delete it":                         {"1-delete.yaml": anyMine},
		"1-apply.yaml: line 1: got no object, want one with apiVersion, kind and metadata":          {"1-apply.yaml": "- a\n"},
		"1-apply.yaml: yaml: ":          {"1-apply.yaml": "a: [\n"},
		`key "kind" already set in map`: {"1-apply.yaml": "kind: A\nkind: B\napiVersion: v1\n"},
		"01-run.yaml: got a TestStep with commands, want delete, apply, assert and error only":       {"01-run.yaml": "apiVersion: kuttl.dev/v1beta1\nkind: TestStep\ncommands: [{command: ls}]\n"},
		"chainsaw-test.yaml: step 1: got script, want apply, create, patch, delete, assert or error": {"chainsaw-test.yaml": "spec: {steps: [{try: [{script: {content: ls}}]}]}\n"},
		"chainsaw-test.yaml: got no steps, want spec.steps with try":                                 {"chainsaw-test.yaml": "spec: {}\n"},
	} {
		_, err := explore.Manifests(files(t, texts))
		assert.ErrorContains(t, err, want)
	}
	_, err := explore.Manifests(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
