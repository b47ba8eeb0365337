package client_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// collection is what a store.Collection and a client.Collection have in common, so that code for
// one works with the other.
type collection[T any] interface {
	Clock() clock.Clock
	Create(ctx context.Context, obj *T, opts store.CreateOptions) (*T, error)
	Get(ctx context.Context, namespace, name string) (*T, error)
	Update(ctx context.Context, obj *T, opts store.UpdateOptions) (*T, error)
	Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts store.UpdateOptions) (*T, error)
	Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*T, error)
	DeleteCollection(ctx context.Context, opts store.DeleteOptions, list store.ListOptions) (*store.List[T], error)
	Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*T, error)
	Apply(ctx context.Context, config *T, opts store.ApplyOptions) (*T, error)
	List(ctx context.Context, opts store.ListOptions) (*store.List[T], error)
	All(ctx context.Context, namespace string) iter.Seq2[*T, error]
	Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error]
	Follow(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error]
}

var (
	_ collection[lease.Lease] = (*store.Collection[lease.Lease])(nil)
	_ collection[lease.Lease] = (*client.Collection[lease.Lease])(nil)
	_ lease.Client            = (*client.Collection[lease.Lease])(nil)
)

// Job is a kind of a user, with a status, a default and a validation.
type Job struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            JobSpec   `json:"spec,omitzero"`
	Status          JobStatus `json:"status,omitzero"`
}

// JobSpec is the desired state.
type JobSpec struct {
	Size  int               `json:"size,omitempty"`
	Parts map[string]string `json:"parts,omitempty"`
}

// JobStatus is the observed state.
type JobStatus struct {
	Done int `json:"done,omitempty"`
}

func jobKind() *store.Kind[Job] {
	return store.MustKind(kind.Descriptor[*Job]{
		Resource: kind.Resource{Group: "example.com", Kind: "Job", Status: true},
		Versions: []kind.Version[*Job]{{Name: "v1"}},
		Strategy: kind.Strategy[*Job]{
			Default: func(j *Job) { j.Spec.Size = max(j.Spec.Size, 1) },
			Validate: func(j, _ *Job) (errs field.Errors) {
				if j.Spec.Size > 9 {
					errs = append(errs, field.Invalid("spec.size", j.Spec.Size, "must be at most 9"))
				}
				return errs
			},
		},
	})
}

func thingKind() *store.Kind[store.Unstructured] {
	return store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Thing", ClusterScoped: true},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}},
	})
}

// server is an API and its store.
type server struct {
	st     *store.Store
	api    *httpapi.API
	jobs   *store.Kind[Job]
	things *store.Kind[store.Unstructured]
}

func newServer(t *testing.T, opts store.Options) server {
	t.Helper()
	st := store.New(opts)
	s := server{st: st, jobs: jobKind(), things: thingKind()}
	s.api = httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{s.jobs, s.things}})
	t.Cleanup(func() { s.api.Close(); st.Close() })
	return s
}

func (s server) client(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Server: "http://api", Transport: s.api.Transport(), UserAgent: "tester/1"})
	require.NoError(t, err)
	return c
}

func newLease(name, holder string) *lease.Lease {
	return &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}, Spec: lease.LeaseSpec{HolderIdentity: &holder}}
}

// The same steps with the collection of a store and with one over HTTP give the same objects and
// the same errors.
func TestVerbsAnswerAsTheCollectionOfAStore(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	opts := store.Options{Seed: 1, Clock: clock.Func(func() time.Time { return at })}
	local, remote := newServer(t, opts), newServer(t, opts)
	c := remote.client(t)
	t.Run("lease", func(t *testing.T) {
		sameSteps(t, lease.In(local.st), client.In(c, lease.Kind()), func(name string) *lease.Lease { return newLease(name, "me") },
			func(l *lease.Lease) { l.Spec.HolderIdentity = new("you") }, `{"spec":{"holderIdentity":"patched"}}`)
	})
	t.Run("endpoints", func(t *testing.T) {
		kind := endpoints.Kind()
		sameSteps(t, kind.In(local.st), client.In(c, kind), func(name string) *endpoints.Endpoints {
			return &endpoints.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}, Subsets: []endpoints.EndpointSubset{
				{Addresses: []endpoints.EndpointAddress{{IP: "10.0.0.1"}}, Ports: []endpoints.EndpointPort{{Port: 80}}}}}
		}, func(e *endpoints.Endpoints) { e.Subsets[0].Addresses[0].IP = "10.0.0.2" }, `{"metadata":{"labels":{"a":"b"}}}`)
	})
	t.Run("a kind of a user", func(t *testing.T) {
		sameSteps(t, local.jobs.In(local.st), client.In(c, remote.jobs), func(name string) *Job {
			return &Job{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}, Spec: JobSpec{Parts: map[string]string{"a": "1"}}}
		}, func(j *Job) { j.Spec.Size = 5 }, `{"spec":{"parts":{"b":"2"}}}`)
		sameSteps(t, local.jobs.In(local.st).Status(), client.In(c, remote.jobs).Status(), func(name string) *Job {
			return &Job{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
		}, func(j *Job) { j.Status.Done = 3 }, `{"status":{"done":4}}`)
	})
	t.Run("objects of any form without a namespace", func(t *testing.T) {
		sameSteps(t, local.things.In(local.st), client.In(c, remote.things), func(name string) *store.Unstructured {
			return &store.Unstructured{ObjectMeta: meta.ObjectMeta{Name: name}, Content: map[string]any{"n": 1.5, "list": []any{"a", 2}}}
		}, func(u *store.Unstructured) { u.Content["n"] = map[string]any{"deep": true} }, `{"more":[1]}`)
	})
	assert.Equal(t, local.st.ResourceVersion(), remote.st.ResourceVersion())
}

// sameSteps takes the same steps in both collections and compares what they return.
func sameSteps[T any](t *testing.T, local, remote collection[T], named func(name string) *T, change func(*T), patch string) {
	t.Helper()
	ctx := t.Context()
	_, cluster := any(named("x")).(*store.Unstructured)
	namespace := "default"
	if cluster {
		namespace = ""
	}
	version := func(c collection[T], obj *T) *T {
		if current, err := c.Get(ctx, namespace, metaOf(obj).Name); err == nil {
			metaOf(obj).ResourceVersion = metaOf(current).ResourceVersion
		}
		return obj
	}
	changed := func(obj *T) *T { change(obj); return obj }
	for _, step := range []struct {
		name string
		do   func(c collection[T]) (any, error)
	}{
		{"get nothing", func(c collection[T]) (any, error) { return c.Get(ctx, namespace, "a") }},
		{"create", func(c collection[T]) (any, error) {
			return c.Create(ctx, named("a"), store.CreateOptions{FieldManager: "m"})
		}},
		{"create it again", func(c collection[T]) (any, error) {
			return c.Create(ctx, named("a"), store.CreateOptions{FieldManager: "m"})
		}},
		{"create without writing", func(c collection[T]) (any, error) {
			return c.Create(ctx, named("dry"), store.CreateOptions{FieldManager: "m", DryRun: true})
		}},
		{"create with a bad name", func(c collection[T]) (any, error) {
			return c.Create(ctx, named("A B"), store.CreateOptions{FieldManager: "m"})
		}},
		{"create with a generated name", func(c collection[T]) (any, error) {
			obj := named("")
			metaOf(obj).GenerateName = "g-"
			return c.Create(ctx, obj, store.CreateOptions{FieldManager: "m"})
		}},
		{"get", func(c collection[T]) (any, error) { return c.Get(ctx, namespace, "a") }},
		{"update an old state", func(c collection[T]) (any, error) {
			obj := changed(named("a"))
			metaOf(obj).ResourceVersion = "1"
			return c.Update(ctx, obj, store.UpdateOptions{FieldManager: "m"})
		}},
		{"update", func(c collection[T]) (any, error) {
			return c.Update(ctx, changed(version(c, named("a"))), store.UpdateOptions{FieldManager: "n"})
		}},
		{"reset the managers", func(c collection[T]) (any, error) {
			obj := changed(version(c, named("a")))
			metaOf(obj).ManagedFields = []meta.ManagedFieldsEntry{}
			return c.Update(ctx, obj, store.UpdateOptions{FieldManager: "n"})
		}},
		{"modify", func(c collection[T]) (any, error) {
			return c.Modify(ctx, namespace, "a", func(obj *T) error {
				metaOf(obj).Labels = map[string]string{"l": "1"}
				return nil
			}, store.UpdateOptions{FieldManager: "n"})
		}},
		{"modify nothing", func(c collection[T]) (any, error) {
			return c.Modify(ctx, namespace, "none", func(*T) error { return nil }, store.UpdateOptions{})
		}},
		{"give a modification up", func(c collection[T]) (any, error) {
			return c.Modify(ctx, namespace, "a", func(*T) error { return errGivenUp }, store.UpdateOptions{})
		}},
		{"merge patch", func(c collection[T]) (any, error) {
			return c.Patch(ctx, namespace, "a", store.MergePatch, []byte(patch), store.PatchOptions{FieldManager: "p"})
		}},
		{"JSON patch", func(c collection[T]) (any, error) {
			return c.Patch(ctx, namespace, "a", store.JSONPatch, []byte(`[{"op":"add","path":"/metadata/annotations","value":{"x":"y"}}]`), store.PatchOptions{FieldManager: "p"})
		}},
		{"patch that fails", func(c collection[T]) (any, error) {
			return c.Patch(ctx, namespace, "a", store.JSONPatch, []byte(`[{"op":"test","path":"/metadata/name","value":"x"}]`), store.PatchOptions{})
		}},
		{"patch with an unknown member", func(c collection[T]) (any, error) {
			return c.Patch(ctx, namespace, "a", store.MergePatch, []byte(`{"metadata":{"unknown":1}}`), store.PatchOptions{DryRun: true})
		}},
		{"patch with a member twice", func(c collection[T]) (any, error) {
			return c.Patch(ctx, namespace, "a", store.MergePatch, []byte(`{"metadata":{"name":"a","name":"a"}}`), store.PatchOptions{})
		}},
		{"apply", func(c collection[T]) (any, error) {
			return c.Apply(ctx, named("applied"), store.ApplyOptions{FieldManager: "applier"})
		}},
		{"apply a conflict", func(c collection[T]) (any, error) {
			return c.Apply(ctx, changed(named("applied")), store.ApplyOptions{FieldManager: "other"})
		}},
		{"apply with force", func(c collection[T]) (any, error) {
			return c.Apply(ctx, changed(named("applied")), store.ApplyOptions{FieldManager: "other", Force: true})
		}},
		{"apply without a manager", func(c collection[T]) (any, error) {
			return c.Apply(ctx, named("applied"), store.ApplyOptions{})
		}},
		{"list", func(c collection[T]) (any, error) { return c.List(ctx, store.ListOptions{Namespace: namespace}) }},
		{"list by label", func(c collection[T]) (any, error) {
			return c.List(ctx, store.ListOptions{LabelSelector: "l=1", FieldSelector: "metadata.name=a"})
		}},
		{"list a page", func(c collection[T]) (any, error) { return c.List(ctx, store.ListOptions{Limit: 1}) }},
		{"list the past", func(c collection[T]) (any, error) {
			return c.List(ctx, store.ListOptions{ResourceVersion: "1", ResourceVersionMatch: store.MatchExact})
		}},
		{"list with a bad selector", func(c collection[T]) (any, error) { return c.List(ctx, store.ListOptions{LabelSelector: "!!"}) }},
		{"all", func(c collection[T]) (any, error) {
			var names []string
			for obj, err := range c.All(ctx, namespace) {
				if err != nil {
					return names, err
				}
				names = append(names, metaOf(obj).Name)
			}
			return names, nil
		}},
		{"delete with another uid", func(c collection[T]) (any, error) {
			return c.Delete(ctx, namespace, "a", store.DeleteOptions{UID: "other"})
		}},
		{"delete with another version", func(c collection[T]) (any, error) {
			return c.Delete(ctx, namespace, "a", store.DeleteOptions{ResourceVersion: "1"})
		}},
		{"delete with a finalizer", func(c collection[T]) (any, error) {
			return c.Delete(ctx, namespace, "applied", store.DeleteOptions{PropagationPolicy: meta.DeletePropagationForeground})
		}},
		{"delete nothing", func(c collection[T]) (any, error) { return c.Delete(ctx, namespace, "none", store.DeleteOptions{}) }},
		{"delete", func(c collection[T]) (any, error) {
			gone, err := c.Delete(ctx, namespace, "a", store.DeleteOptions{})
			if err != nil {
				return gone, err
			}
			m := metaOf(gone)
			return meta.ObjectMeta{Namespace: m.Namespace, Name: m.Name, UID: m.UID}, nil
		}},
		{"delete the collection without writing", func(c collection[T]) (any, error) {
			return c.DeleteCollection(ctx, store.DeleteOptions{DryRun: true}, store.ListOptions{Namespace: namespace})
		}},
	} {
		want, wantErr := step.do(local)
		got, err := step.do(remote)
		assert.Equal(t, want, got, step.name)
		if wantErr == nil {
			assert.NoError(t, err, step.name)
			continue
		}
		if wanted, ok := errors.AsType[*meta.StatusError](wantErr); ok {
			assert.Equal(t, wanted, err, step.name)
		} else if err == nil || wantErr == errGivenUp {
			assert.Equal(t, wantErr, err, step.name)
		}
	}
}

var errGivenUp = errors.New("given up")

func metaOf[T any](obj *T) *meta.ObjectMeta {
	return any(obj).(interface{ GetObjectMeta() *meta.ObjectMeta }).GetObjectMeta()
}
