package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// TestMain is the program that the tests explore, if $MIRROR says which.
func TestMain(m *testing.M) {
	which := os.Getenv("MIRROR")
	if which == "" {
		os.Exit(m.Run())
	}
	if len(os.Args) > 2 { // its webhook
		go serveWebhook(os.Args[1], os.Args[2])
	}
	if err := mirror(context.Background(), which == "careless"); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// mirror gives each Lease an Endpoints of its name, and deletes it with the Lease. A careless one does not look for what was deleted while it did not run.
func mirror(ctx context.Context, careless bool) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	api, err := client.New(client.Config{Server: config.Host, Transport: transport, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	leases, children := client.In(api, lease.Kind()), client.In(api, endpoints.Kind())
	for child, err := range children.All(ctx, "default") {
		if careless || err != nil || child.Labels["mirror"] == "" {
			continue
		}
		if _, err := leases.Get(ctx, "default", child.Name); errors.Is(err, store.ErrNotFound) {
			_, _ = children.Delete(ctx, "default", child.Name, store.DeleteOptions{})
		}
	}
	for e, err := range leases.Follow(ctx, store.WatchOptions{Namespace: "default"}) {
		switch {
		case err != nil:
			return err
		case e.Type == watch.Deleted:
			_, err = children.Delete(ctx, "default", e.Object.Name, store.DeleteOptions{})
		case e.Object != nil:
			child := &endpoints.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: e.Object.Name, Labels: map[string]string{"mirror": "yes"}}}
			_, err = children.Create(ctx, child, store.CreateOptions{})
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrAlreadyExists) {
			return err
		}
	}
	return nil
}

// serveWebhook admits Leases, and labels them.
func serveWebhook(port, certs string) {
	patch := []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"admitted": "yes"}}]`)
	err := http.ListenAndServeTLS("127.0.0.1:"+port, certs+"/tls.crt", certs+"/tls.key", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: new(admissionv1.PatchTypeJSONPatch)}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	fmt.Fprintln(os.Stderr, "webhook:", err)
}

// ran runs the command, and returns its exit status and what it has written.
func ran(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

// A finding ends the command with 1, and is in all reports. A program without one ends it with 0.
func TestCommand(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "") // nothing of the machine counts
	dir := t.TempDir()
	steps := filepath.Join(dir, "steps")
	require.NoError(t, os.Mkdir(steps, 0o700))
	lease := "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\n"
	require.NoError(t, os.WriteFile(filepath.Join(steps, "1-apply-a.yaml"), []byte(lease), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(steps, "2-delete-a.yaml"), []byte(lease), 0o600))
	present := filepath.Join(dir, "present.yaml")
	require.NoError(t, os.WriteFile(present, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: present, namespace: default}\n"), 0o600))
	jsonFile, junitFile, pages := filepath.Join(dir, "report.json"), filepath.Join(dir, "report.xml"), filepath.Join(dir, "pages")
	args := func(which string, more ...string) []string {
		flags := []string{"-steps", steps, "-load", present, "-quiet", "1s", "-name", "mirror", "-env", "MIRROR=" + which, "-plan", "down 2", "-plan", "restart 1"}
		return append(append(flags, more...), "--", os.Args[0])
	}

	var code int
	var out, errs string
	var both sync.WaitGroup // they wait most of the time
	both.Go(func() {
		code, out, errs := ran(t, args("right", "-tls")...)
		assert.Equal(t, clean, code, errs)
		assert.Contains(t, out, "2 runs in ")
		assert.Contains(t, out, ": 0 findings")
	})
	both.Go(func() {
		code, out, errs = ran(t, args("careless", "-json", jsonFile, "-junit", junitFile, "-dir", pages)...)
	})
	both.Wait()
	assert.Equal(t, findings, code, errs)
	const text = `after step 2 "2-delete-a": endpoints default/a exists, in the undisturbed run it does not`
	assert.Contains(t, out, text+"\n")
	assert.Contains(t, out, "again 3 of 3 times by -plan='down 2'")
	assert.Contains(t, errs, "found, to be confirmed: "+text+", by down 2\n")

	var report jsonReport
	data, err := os.ReadFile(jsonFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &report))
	require.Len(t, report.Findings, 1)
	assert.Equal(t, text, report.Findings[0].Text)
	assert.Equal(t, []string{"down 2"}, report.Findings[0].Plans)
	assert.Contains(t, report.Findings[0].Outputs, "mirror.2")
	page, err := os.ReadFile(report.Findings[0].Page)
	require.NoError(t, err)
	assert.Contains(t, string(page), "<h2>Output of mirror.2</h2>")

	var suite junitSuite
	data, err = os.ReadFile(junitFile)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(data, &suite))
	assert.Equal(t, 1, suite.Failures)
	require.Len(t, suite.Cases, 1)
	assert.Equal(t, text, suite.Cases[0].Failure.Message)
}

// The webhooks of the program are called on the address that it serves, in each run on another one, and the flags of a kube-apiserver count.
func TestWebhooksOfTheProgram(t *testing.T) {
	dir := t.TempDir()
	steps, hooks := filepath.Join(dir, "steps"), filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.Mkdir(steps, 0o700))
	require.NoError(t, os.WriteFile(hooks, []byte(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mirror}
webhooks:
- name: leases.example.com
  clientConfig: {service: {name: webhook, namespace: system, path: /mutate}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{apiGroups: [coordination.k8s.io], apiVersions: [v1], resources: [leases], operations: [CREATE]}]
`), 0o600))
	lease := "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\n"
	require.NoError(t, os.WriteFile(filepath.Join(steps, "1-create-a.yaml"), []byte(lease), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(steps, "2-wait-a.yaml"), []byte(strings.ReplaceAll(lease, "{name: a}", "{name: a, labels: {admitted: \"yes\"}}")), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(steps, "3-create-pod.yaml"), []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(steps, "4-wait-pod.yaml"), []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{imagePullPolicy: Always, image: i}]}\n"), 0o600))
	code, out, errs := ran(t, "-steps", steps, "-webhooks", hooks, "-apiserver", "--enable-admission-plugins=AlwaysPullImages", "-quiet", "1s", "-env", "MIRROR=right",
		"-plan", "restart 1", "--", os.Args[0], "{webhook}", "{certs}")
	assert.Equal(t, clean, code, errs)
	assert.Contains(t, out, "1 runs in ")
}

// What is wrong with the arguments is said, and ends the command with 2.
func TestCommandIsChecked(t *testing.T) {
	steps := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(steps, "1-apply-a.yaml"), []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"), 0o600))
	for want, args := range map[string]string{
		"explore: -steps: got none, want a folder":                            "-- true",
		"explore: got no program, want one after the flags":                   "-steps " + steps,
		`explore: -world: got "moon", want workloads, pods or none`:           "-steps " + steps + " -world moon -- true",
		"flag provided but not defined: -step":                                "-step x",
		"explore: -steps: open nowhere":                                       "-steps nowhere -- true",
		"explore: -load: stat nowhere":                                        "-steps " + steps + " -load nowhere -- true",
		"nowhere":                                                             "-steps " + steps + " -crds nowhere -- true",
		`explore: Scenario.Controllers[0].Command: got "no-such-program"`:     "-steps " + steps + " -- no-such-program",
		`explore: plan "jump": got the action "jump", want one of`:            "-steps " + steps + " -plan jump -- true",
		`explore: Scenario.Controllers[0].Env[0]: got "A", want "NAME=value"`: "-steps " + steps + " -env A -- true",
		"controller ends by itself: exit status 0; it has written nothing":    "-steps " + steps + " -- true",
		"explore: Options.Budget: got -1000000000, want 0 or more":            "-steps " + steps + " -budget -1s -- true",
	} {
		code, _, errs := ran(t, strings.Fields(args)...)
		assert.Equal(t, atFault, code, args)
		assert.Contains(t, errs, want, args)
	}
	code, _, errs := ran(t, "-help")
	assert.Equal(t, clean, code)
	assert.Contains(t, errs, "usage: explore -steps DIR [flags] -- PROGRAM")
}
