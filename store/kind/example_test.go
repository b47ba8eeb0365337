package kind_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Task is an object of a user.
type Task struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            TaskSpec `json:"spec"`
}

type TaskSpec struct {
	Owner    string `json:"owner,omitempty"`
	Workers  int32  `json:"workers,omitempty"`
	Schedule string `json:"schedule,omitempty"`
}

const (
	asJSON  = "application/json"
	asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// serve sends one request to an API and returns the answer.
func serve(api http.Handler, accept, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Accept", accept)
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, r)
	return answer
}

// The owner of a Task is the user who created it, and no update changes the owner. A deleted Task has 30 seconds to end its work.
func ExampleStrategy() {
	tasks := store.MustKind(kind.Descriptor[*Task]{
		Resource: kind.Resource{Group: "example.com", Kind: "Task", Categories: []string{"all"}},
		Versions: []kind.Version[*Task]{{Name: "v1"}},
		Strategy: kind.Strategy[*Task]{
			Create: kind.CreateStrategy[*Task]{
				Prepare: func(ctx context.Context, t *Task) { t.Spec.Owner = store.UserOf(ctx).Name },
			},
			Update: kind.UpdateStrategy[*Task]{
				Prepare: func(t, old *Task) { t.Spec.Owner = old.Spec.Owner },
			},
			Delete: kind.DeleteStrategy[*Task]{
				Grace: func(_ *Task, requested *int64) int64 {
					if requested != nil {
						return *requested
					}
					return 30
				},
			},
			Warnings: func(t, _ *Task) []string {
				if t.Spec.Schedule != "" {
					return []string{"spec.schedule: deprecated, create a Task for each run"}
				}
				return nil
			},
		},
		Table: kind.Table[*Task]{Columns: []kind.Column[*Task]{
			kind.NameColumn[*Task](),
			{Name: "Owner", Type: "string", Cell: func(t *Task, _ time.Time) any { return t.Spec.Owner }},
		}},
	})
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{tasks}})
	defer api.Close()

	const path = "/apis/example.com/v1/namespaces/default/tasks"
	answer := serve(api, asJSON, "POST", path,
		`{"apiVersion":"example.com/v1","kind":"Task","metadata":{"name":"a"},"spec":{"owner":"me","schedule":"daily"}}`)
	fmt.Println(answer.Code, answer.Header().Get("Warning"))
	var table struct{ Rows []struct{ Cells []any } }
	if err := json.Unmarshal(serve(api, asTable, "GET", path, "").Body.Bytes(), &table); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Rows[0].Cells)
	deleted, err := tasks.In(st).Delete(context.Background(), "default", "a", store.DeleteOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("seconds left:", *deleted.DeletionGracePeriodSeconds)

	// Output:
	// 201 299 - "spec.schedule: deprecated, create a Task for each run"
	// [a system:apiserver]
	// seconds left: 30
}

// Scale is the body of the subresource scale, as kubectl scale and autoscalers write it.
type Scale struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            ScaleSpec `json:"spec"`
}

type ScaleSpec struct {
	Replicas int32 `json:"replicas"`
}

// The body of a subresource may be of another kind, which is not stored.
func ExampleSubresource() {
	scales := store.MustKind(kind.Descriptor[*Scale]{
		Resource: kind.Resource{Group: "autoscaling", Kind: "Scale"},
		Versions: []kind.Version[*Scale]{{Name: "v1"}},
	})
	tasks := store.MustKind(kind.Descriptor[*Task]{
		Resource: kind.Resource{Group: "example.com", Kind: "Task"},
		Versions: []kind.Version[*Task]{{Name: "v1"}},
		Subresources: []kind.Subresource[*Task]{{
			Name: "scale", Body: scales, Verbs: []string{"get", "patch", "update"},
			Read: func(t *Task) (meta.Object, error) {
				return &Scale{
					ObjectMeta: meta.ObjectMeta{Namespace: t.Namespace, Name: t.Name, ResourceVersion: t.ResourceVersion},
					Spec:       ScaleSpec{Replicas: t.Spec.Workers},
				}, nil
			},
			Write: func(t *Task, body meta.Object) error {
				t.Spec.Workers = body.(*Scale).Spec.Replicas
				return nil
			},
		}},
	})
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{tasks}})
	defer api.Close()
	ctx := context.Background()
	if _, err := tasks.In(st).Create(ctx, &Task{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{}); err != nil {
		fmt.Println(err)
		return
	}

	const path = "/apis/example.com/v1/namespaces/default/tasks/a/scale"
	fmt.Print(serve(api, asJSON, "PUT", path, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},"spec":{"replicas":3}}`).Body)
	t, err := tasks.In(st).Get(ctx, "default", "a")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("workers:", t.Spec.Workers)

	// Output:
	// {"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a","namespace":"default","resourceVersion":"1002"},"spec":{"replicas":3}}
	// workers: 3
}

// Job is the form of a Task in the group batch.example.com.
type Job struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Parallelism     int32 `json:"parallelism,omitempty"`
}

// Two groups serve the same objects, each in a form of its own.
func ExampleAlias() {
	k, err := store.NewKind(kind.Descriptor[*Task]{
		Resource: kind.Resource{Group: "example.com", Kind: "Task"},
		Versions: []kind.Version[*Task]{{Name: "v1"}},
		Native: &kind.Native[*Task]{CustomResource: true, Aliases: []kind.Alias[*Task]{{Group: "batch.example.com", Version: kind.Version[*Task]{
			Name: "v1",
			Form: kind.FormOf(
				func(t *Task) *Job { return &Job{ObjectMeta: t.ObjectMeta, Parallelism: t.Spec.Workers} },
				func(j *Job) *Task { return &Task{ObjectMeta: j.ObjectMeta, Spec: TaskSpec{Workers: j.Parallelism}} },
			),
		}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: k.Groups()})
	defer api.Close()

	created := serve(api, asJSON, "POST", "/apis/batch.example.com/v1/namespaces/default/tasks",
		`{"apiVersion":"batch.example.com/v1","kind":"Task","metadata":{"name":"a"},"parallelism":3}`)
	t, err := k.In(st).Get(context.Background(), "default", "a")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(created.Code, t.Name, t.Spec.Workers)
	for _, group := range k.Groups() {
		fmt.Println(group.GroupResource(), group.TypeMeta(group.OwnVersion()).APIVersion)
	}

	// Output:
	// 201 a 3
	// tasks.example.com example.com/v1
	// tasks.batch.example.com batch.example.com/v1
}

// Version v1 of the kind has the same Go type, and counts in threads: four of them are a worker.
func ExampleConvertBy() {
	times := func(factor, divisor int32) func(meta.Object) meta.Object {
		return func(o meta.Object) meta.Object {
			t := o.(*Task)
			t.Spec.Workers = t.Spec.Workers * factor / divisor
			return t
		}
	}
	k, err := store.NewKind(kind.Descriptor[*Task]{
		Resource: kind.Resource{Group: "example.com", Kind: "Task"},
		Versions: []kind.Version[*Task]{{Name: "v2"}, {Name: "v1", Form: kind.Form{Convert: kind.ConvertBy(times(4, 1), times(1, 4))}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	stored, err := k.Received(ctx, &Task{Spec: TaskSpec{Workers: 8}}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	shown, err := k.Wire(ctx, stored, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(stored.(*Task).Spec.Workers, shown.(*Task).Spec.Workers, shown.GetTypeMeta().APIVersion)
	// Output: 2 8 example.com/v1
}

// A Conversion that asks a server may fail, and may remember results.
func ExampleConversion() {
	var results sync.Map // by resourceVersion
	var convert kind.Conversion = func(ctx context.Context, obj meta.Object, toStored bool, reuse kind.Reuse) (meta.Object, error) {
		t := obj.(*Task)
		if toStored {
			return nil, errors.New("version v1 is read-only")
		}
		if workers, ok := results.Load(t.ResourceVersion); ok && reuse == kind.Remembered {
			t.Spec.Workers = workers.(int32)
			return t, nil
		}
		fmt.Println("asking the server")
		t.Spec.Workers *= 2
		results.Store(t.ResourceVersion, t.Spec.Workers)
		return t, ctx.Err()
	}
	ctx := context.Background()
	for _, reuse := range []kind.Reuse{kind.Remembered, kind.Remembered, kind.Anew} {
		t := &Task{ObjectMeta: meta.ObjectMeta{ResourceVersion: "7"}, Spec: TaskSpec{Workers: 2}}
		if _, err := convert(ctx, t, false, reuse); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.Spec.Workers)
	}

	k, err := store.NewKind(kind.Descriptor[*Task]{
		Resource: kind.Resource{Group: "example.com", Kind: "Task"},
		Versions: []kind.Version[*Task]{{Name: "v2"}, {Name: "v1", Form: kind.Form{Convert: convert}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = k.Received(ctx, &Task{}, 1)
	fmt.Println(err)

	// Output:
	// asking the server
	// 4
	// 4
	// asking the server
	// 4
	// version v1 is read-only
}

// One function makes kinds of different Go types, with rules that they share.
func ExampleValueOf() {
	compile := func(name string, empty func() meta.Object) (kind.Kind, error) {
		return store.Compile(kind.Descriptor[meta.Object]{
			Resource: kind.Resource{Group: "example.com", Kind: name},
			Versions: []kind.Version[meta.Object]{{Name: "v1"}},
			New:      empty,
			Strategy: kind.Strategy[meta.Object]{Validate: func(o, _ meta.Object) (errs field.Errors) {
				if o.GetObjectMeta().Labels["team"] == "" {
					errs = append(errs, field.Required(field.Path("metadata").Child("labels"), "needs a team"))
				}
				if t := kind.ValueOf[Task](o); t != nil && t.Spec.Workers < 0 { // only Tasks have workers
					errs = append(errs, field.Invalid(field.Path("spec").Child("workers"), t.Spec.Workers, "must be 0 or more"))
				}
				return errs
			}},
		})
	}
	k, err := compile("Task", func() meta.Object { return &Task{} })
	if err != nil {
		fmt.Println(err)
		return
	}
	tasks, err := store.As[Task](k)
	if err != nil {
		fmt.Println(err)
		return
	}
	st := store.New(store.Options{})
	defer st.Close()
	_, err = tasks.In(st).Create(context.Background(), &Task{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"team": "web"}},
		Spec:       TaskSpec{Workers: -1},
	}, store.CreateOptions{})
	fmt.Println(err)
	// Output: Task.example.com "a" is invalid: spec.workers: Invalid value: -1: must be 0 or more
}

// A tool lists what an API serves, as kubectl api-resources does.
func ExampleInfo() {
	show := func(v kind.VersionInfo) string {
		switch {
		case v.Unserved:
			return v.Name + " (only stored)"
		case v.Deprecated != "":
			return v.Name + " (deprecated)"
		}
		return v.Name
	}
	describe := func(i *kind.Info) {
		var versions []string
		for _, v := range i.Versions {
			versions = append(versions, show(v))
		}
		fmt.Println(strings.Join(versions, ", "), "watch:", i.Serves("watch"), "stored:", i.Stored())
	}
	review := store.MustKind(kind.Descriptor[*Task]{
		Resource: kind.Resource{Group: "example.com", Kind: "TaskReview", Verbs: []string{"create"}},
		Versions: []kind.Version[*Task]{{Name: "v1"}, {Name: "v1beta1", Deprecated: "example.com/v1beta1 is deprecated"}},
	})
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{review}})
	defer api.Close()
	for _, k := range api.Kinds() {
		fmt.Print(k.TypeMeta(0).Kind, " ", k.GroupResource(), ": ")
		describe(k.Info())
	}

	// Output:
	// Lease leases.coordination.k8s.io: v1 watch: true stored: true
	// LeaseCandidate leasecandidates.coordination.k8s.io: v1beta1 (deprecated), v1alpha2 (deprecated), v1alpha1 (deprecated) watch: true stored: true
	// Endpoints endpoints: v1 (deprecated) watch: true stored: true
	// TaskReview taskreviews.example.com: v1, v1beta1 (deprecated) watch: false stored: false
}

// A program for all kinds handles objects as trees. FromTree drops what the schema does not have, DefaultTree adds defaults.
func ExampleKind() {
	spec := &schema.Schema{Type: "object", Properties: []schema.Property{
		{Name: "owner", Schema: &schema.Schema{Type: "string"}},
		{Name: "workers", Schema: &schema.Schema{Type: "integer", Default: int64(1)}},
	}}
	var k kind.Kind = store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Plan"},
		Versions: []kind.Version[*store.Unstructured]{{
			Name: "v1", Schema: &schema.Schema{Type: "object", Properties: []schema.Property{{Name: "spec", Schema: spec}}},
		}},
		SelectableFields: []kind.SelectableField[*store.Unstructured]{
			{Path: "spec.owner", Value: func(u *store.Unstructured) string { return u.Content["spec"].(map[string]any)["owner"].(string) }},
		},
	})
	tree := k.Tree(k.New(0), 0)
	tree["spec"] = map[string]any{"owner": "me", "unknown": true}
	obj, unknown, err := k.FromTree(tree, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.FieldValue(obj, "spec.owner"), k.Tree(obj, 0)["spec"], unknown)
	tree, err = k.DefaultTree(k.Tree(obj, 0), 0)
	fmt.Println(tree["spec"], err)
	// Output:
	// me map[owner:me] [unknown field "spec.unknown"]
	// map[owner:me workers:1] <nil>
}

// Each rule for names returns the problems of a name.
func ExampleDNSLabelName() {
	rules := []struct {
		name  string
		check func(name string, prefix bool) []string
	}{
		{"DNSLabelName", kind.DNSLabelName},
		{"DNSSubdomainName", kind.DNSSubdomainName},
		{"ConfigKeyName", kind.ConfigKeyName},
		{"PathSegmentName", kind.PathSegmentName},
	}
	for _, name := range []string{"a", "a.b", "A_b", "a:b", "a/b"} {
		fmt.Print(name, ":")
		for _, rule := range rules {
			if len(rule.check(name, false)) == 0 {
				fmt.Print(" ", rule.name)
			}
		}
		fmt.Println()
	}
	fmt.Println(kind.PathSegmentName("a/b", false))

	// Output:
	// a: DNSLabelName DNSSubdomainName ConfigKeyName PathSegmentName
	// a.b: DNSSubdomainName ConfigKeyName PathSegmentName
	// A_b: ConfigKeyName PathSegmentName
	// a:b: PathSegmentName
	// a/b:
	// [may not contain '/']
}
