package httpapi_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	endpointskind "github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// doorStep is one write through both doors: by Go and by the request that means the same.
type doorStep struct {
	name               string
	write              func(ctx context.Context, st *store.Store) error
	method, path, body string
	contentType        string
	code               int // of the answer
}

func typedPatch[T any](kind *store.Kind[T], namespace, name string, t store.PatchType, data string, opts store.PatchOptions) func(context.Context, *store.Store) error {
	return func(ctx context.Context, st *store.Store) error {
		_, err := kind.In(st).Patch(ctx, namespace, name, t, []byte(data), opts)
		return err
	}
}

func typedApply[T any](kind *store.Kind[T], config *T, opts store.ApplyOptions) func(context.Context, *store.Store) error {
	return func(ctx context.Context, st *store.Store) error {
		_, err := kind.In(st).Apply(ctx, config, opts)
		return err
	}
}

const (
	typeJSONPatch  = "application/json-patch+json"
	typeMergePatch = "application/merge-patch+json"
	typeStrategic  = "application/strategic-merge-patch+json"
)

func named(namespace, name string) meta.ObjectMeta {
	return meta.ObjectMeta{Namespace: namespace, Name: name}
}

// engineKind is a cluster-scoped kind of objects of any form with a status.
func engineKind() *store.Kind[store.Unstructured] {
	return store.MustKind(store.Descriptor[store.Unstructured]{
		Group: "example.com", Name: "Engine", ClusterScoped: true, Status: true,
		Versions: []store.Version[store.Unstructured]{{Name: "v1"}, {Name: "v1beta1"}},
	})
}

func leaseSteps() []doorStep {
	k := lease.Kind()
	const leaseA = leases + "/a"
	held := func(by string) *lease.Lease {
		return &lease.Lease{ObjectMeta: named("default", "a"), Spec: lease.LeaseSpec{HolderIdentity: &by}}
	}
	config := func(by string) string {
		return `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","namespace":"default"},"spec":{"holderIdentity":"` + by + `"}}`
	}
	patch := func(t store.PatchType, data string) func(context.Context, *store.Store) error {
		return typedPatch(k, "default", "a", t, data, store.PatchOptions{FieldManager: "p"})
	}
	const q = "?fieldManager=p&fieldValidation=Strict"
	return []doorStep{
		{"patch of a missing object", patch(store.MergePatch, `{}`), "PATCH", leaseA + q, `{}`, typeMergePatch, 404},
		{"apply creates", typedApply(k, held("x"), store.ApplyOptions{FieldManager: "m"}), "PATCH", leaseA + "?fieldManager=m", config("x"), typeApply, 201},
		{"apply of the same", typedApply(k, held("x"), store.ApplyOptions{FieldManager: "m"}), "PATCH", leaseA + "?fieldManager=m", config("x"), typeApply, 200},
		{"apply of another's field", typedApply(k, held("y"), store.ApplyOptions{FieldManager: "n"}), "PATCH", leaseA + "?fieldManager=n", config("y"), typeApply, 409},
		{"apply with force, dry run", typedApply(k, held("y"), store.ApplyOptions{FieldManager: "n", Force: true, DryRun: true}), "PATCH", leaseA + "?fieldManager=n&force=true&dryRun=All", config("y"), typeApply, 200},
		{"apply with force", typedApply(k, held("y"), store.ApplyOptions{FieldManager: "n", Force: true}), "PATCH", leaseA + "?fieldManager=n&force=true", config("y"), typeApply, 200},
		{"apply without a manager", typedApply(k, held("y"), store.ApplyOptions{}), "PATCH", leaseA, config("y"), typeApply, 422},
		{"JSON patch", patch(store.JSONPatch, `[{"op":"add","path":"/spec/leaseDurationSeconds","value":15}]`), "PATCH", leaseA + q, `[{"op":"add","path":"/spec/leaseDurationSeconds","value":15}]`, typeJSONPatch, 200},
		{"JSON patch whose test fails", patch(store.JSONPatch, `[{"op":"test","path":"/spec/leaseDurationSeconds","value":16}]`), "PATCH", leaseA + q, `[{"op":"test","path":"/spec/leaseDurationSeconds","value":16}]`, typeJSONPatch, 422},
		{"merge patch", patch(store.MergePatch, `{"metadata":{"labels":{"a":"b"}},"spec":{"holderIdentity":null}}`), "PATCH", leaseA + q, `{"metadata":{"labels":{"a":"b"}},"spec":{"holderIdentity":null}}`, typeMergePatch, 200},
		{"strategic merge patch", patch(store.StrategicMergePatch, `{"metadata":{"finalizers":["example.com/f"]}}`), "PATCH", leaseA + q, `{"metadata":{"finalizers":["example.com/f"]}}`, typeStrategic, 200},
		{"patch that changes nothing", patch(store.MergePatch, `{}`), "PATCH", leaseA + q, `{}`, typeMergePatch, 200},
		{"unknown field", patch(store.MergePatch, `{"spec":{"holder":"x"}}`), "PATCH", leaseA + q, `{"spec":{"holder":"x"}}`, typeMergePatch, 422},
		{"duplicate field", patch(store.MergePatch, `{"spec":{"leaseTransitions":1,"leaseTransitions":2}}`), "PATCH", leaseA + q, `{"spec":{"leaseTransitions":1,"leaseTransitions":2}}`, typeMergePatch, 422},
		{"empty patch", patch(store.StrategicMergePatch, ``), "PATCH", leaseA + q, ``, typeStrategic, 400},
		{"no JSON", patch(store.JSONPatch, `{`), "PATCH", leaseA + q, `{`, typeJSONPatch, 400},
		{"invalid result", patch(store.MergePatch, `{"spec":{"leaseDurationSeconds":0}}`), "PATCH", leaseA + q, `{"spec":{"leaseDurationSeconds":0}}`, typeMergePatch, 422},
		{"older resourceVersion", patch(store.MergePatch, `{"metadata":{"resourceVersion":"1"}}`), "PATCH", leaseA + q, `{"metadata":{"resourceVersion":"1"}}`, typeMergePatch, 409},
		{"another name", patch(store.MergePatch, `{"metadata":{"name":"b"}}`), "PATCH", leaseA + q, `{"metadata":{"name":"b"}}`, typeMergePatch, 400},
		{"manager that is too long", typedPatch(k, "default", "a", store.MergePatch, `{}`, store.PatchOptions{FieldManager: "\x00"}), "PATCH", leaseA + "?fieldManager=%00", `{}`, typeMergePatch, 422},
	}
}

func candidateSteps() []doorStep {
	k := candidate.Kind()
	spec := candidate.LeaseCandidateSpec{LeaseName: "l", BinaryVersion: "1.2.0", EmulationVersion: "1.1.0", Strategy: "OldestEmulationVersion"}
	const config = `{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","metadata":{"name":"a","namespace":"default"},"spec":{"leaseName":"l","binaryVersion":"1.2.0","emulationVersion":"1.1.0","strategy":"OldestEmulationVersion"}}`
	return []doorStep{
		{"apply creates", typedApply(k, &candidate.LeaseCandidate{ObjectMeta: named("default", "a"), Spec: spec}, store.ApplyOptions{FieldManager: "m"}), "PATCH", candidates + "/a?fieldManager=m", config, typeApply, 201},
		{"merge patch", typedPatch(k, "default", "a", store.MergePatch, `{"spec":{"emulationVersion":"1.2.0"}}`, store.PatchOptions{}), "PATCH", candidates + "/a?fieldValidation=Strict&fieldManager=unknown", `{"spec":{"emulationVersion":"1.2.0"}}`, typeMergePatch, 200},
		{"field of another version", typedPatch(k, "default", "a", store.MergePatch, `{"spec":{"preferredStrategies":["OldestEmulationVersion"]}}`, store.PatchOptions{}), "PATCH", candidates + "/a?fieldValidation=Strict&fieldManager=unknown", `{"spec":{"preferredStrategies":["OldestEmulationVersion"]}}`, typeMergePatch, 422},
	}
}

func endpointsSteps() []doorStep {
	k := endpointskind.Kind()
	const path = endpoints + "/a?fieldManager=m&fieldValidation=Strict"
	const patch = `{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`
	return []doorStep{
		{"apply creates", typedApply(k, &endpointskind.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"a": "b"}}}, store.ApplyOptions{FieldManager: "m"}), "PATCH", endpoints + "/a?fieldManager=m", `{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"a","namespace":"default","labels":{"a":"b"}}}`, typeApply, 201},
		{"strategic merge patch", typedPatch(k, "default", "a", store.StrategicMergePatch, patch, store.PatchOptions{FieldManager: "m"}), "PATCH", path, patch, typeStrategic, 200},
		{"dry run", typedPatch(k, "default", "a", store.StrategicMergePatch, `{"subsets":null}`, store.PatchOptions{FieldManager: "m", DryRun: true}), "PATCH", path + "&dryRun=All", `{"subsets":null}`, typeStrategic, 200},
	}
}

func engineSteps(k *store.Kind[store.Unstructured]) []doorStep {
	const engines = "/apis/example.com/v1/engines"
	config := func(members map[string]any) (*store.Unstructured, string) {
		body := map[string]any{"apiVersion": "example.com/v1", "kind": "Engine", "metadata": map[string]any{"name": "a"}}
		for name, value := range members {
			body[name] = value
		}
		text, _ := json.Marshal(body)
		return &store.Unstructured{ObjectMeta: named("", "a"), Content: members}, string(text)
	}
	spec, specText := config(map[string]any{"spec": map[string]any{"n": int64(1), "list": []any{"x"}}})
	status, statusText := config(map[string]any{"status": map[string]any{"ok": true}})
	onStatus := func(write func(*store.Collection[store.Unstructured], context.Context) error) func(context.Context, *store.Store) error {
		return func(ctx context.Context, st *store.Store) error { return write(k.In(st).Status(), ctx) }
	}
	return []doorStep{
		{"apply of a missing object's status", onStatus(func(c *store.Collection[store.Unstructured], ctx context.Context) error {
			_, err := c.Apply(ctx, status, store.ApplyOptions{FieldManager: "s"})
			return err
		}), "PATCH", engines + "/a/status?fieldManager=s", statusText, typeApply, 404},
		{"apply creates", typedApply(k, spec, store.ApplyOptions{FieldManager: "m"}), "PATCH", engines + "/a?fieldManager=m", specText, typeApply, 201},
		{"apply of the status", onStatus(func(c *store.Collection[store.Unstructured], ctx context.Context) error {
			_, err := c.Apply(ctx, status, store.ApplyOptions{FieldManager: "s"})
			return err
		}), "PATCH", engines + "/a/status?fieldManager=s", statusText, typeApply, 200},
		{"patch of the status", onStatus(func(c *store.Collection[store.Unstructured], ctx context.Context) error {
			_, err := c.Patch(ctx, "", "a", store.MergePatch, []byte(`{"spec":"dropped","status":{"ok":false}}`), store.PatchOptions{FieldManager: "t"})
			return err
		}), "PATCH", engines + "/a/status?fieldManager=t&fieldValidation=Strict", `{"spec":"dropped","status":{"ok":false}}`, typeMergePatch, 200},
		{"JSON patch", typedPatch(k, "", "a", store.JSONPatch, `[{"op":"add","path":"/spec/list/-","value":"y"}]`, store.PatchOptions{FieldManager: "t"}), "PATCH", engines + "/a?fieldManager=t&fieldValidation=Strict", `[{"op":"add","path":"/spec/list/-","value":"y"}]`, typeJSONPatch, 200},
	}
}

// A patch and an apply from Go store the same object, managedFields included, and fail with
// the same Status as the same request over HTTP.
func TestPatchAndApplyAreTheSameThroughBothDoors(t *testing.T) {
	engines := engineKind()
	for name, scenario := range map[string]struct {
		state string
		steps []doorStep
	}{
		"leases":     {allLeases, leaseSteps()},
		"candidates": {candidates, candidateSteps()},
		"endpoints":  {endpoints, endpointsSteps()},
		"engines":    {"/apis/example.com/v1/engines", engineSteps(engines)},
	} {
		t.Run(name, func(t *testing.T) {
			newDoor := func() *server {
				now := clock.Func(func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) })
				return newServerWith(t, store.Options{Seed: 1, Clock: now}, httpapi.Options{Kinds: []kind.Kind{lease.Kind(), candidate.Kind(), endpointskind.Kind(), engines}})
			}
			byGo, byHTTP := newDoor(), newDoor()
			for _, step := range scenario.steps {
				err := step.write(t.Context(), byGo.st)
				a := byHTTP.do(t, step.method, step.path, step.body, "Content-Type", step.contentType)
				require.Equal(t, step.code, a.Code, "%s: %s", step.name, a.Body)
				if a.Code < 300 {
					require.NoError(t, err, step.name)
				} else if assert.Error(t, err, step.name) {
					var want meta.Status
					require.NoError(t, json.Unmarshal([]byte(a.Body), &want))
					assert.Equal(t, want, *meta.StatusOf(err), step.name)
				}
				assert.Equal(t, byHTTP.do(t, "GET", scenario.state, "").Body, byGo.do(t, "GET", scenario.state, "").Body, step.name)
			}
		})
	}
}
