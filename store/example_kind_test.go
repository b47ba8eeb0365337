package store_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Job is stored as v2. Version v1 has one field instead of two.
type Job struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            JobSpec `json:"spec" protobuf:"2"`
}

type JobSpec struct {
	Queue    string `json:"queue" protobuf:"1"`
	Priority int32  `json:"priority,omitempty" protobuf:"2"`
}

type JobV1 struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Queue           string `json:"queue" protobuf:"2"`
}

// A kind with two versions and rules of its own.
func ExampleNewKind() {
	jobs, err := store.NewKind(kind.Descriptor[*Job]{
		Resource: kind.Resource{Group: "example.com", Kind: "Job", ShortNames: []string{"jb"}},
		Versions: []kind.Version[*Job]{
			{Name: "v2"},
			{
				Name:       "v1",
				Deprecated: "example.com/v1 Job is deprecated; use v2",
				Form: kind.FormOf(
					func(j *Job) *JobV1 { return &JobV1{ObjectMeta: j.ObjectMeta, Queue: j.Spec.Queue} },
					func(j *JobV1) *Job { return &Job{ObjectMeta: j.ObjectMeta, Spec: JobSpec{Queue: j.Queue}} },
				),
			},
		},
		Strategy: kind.Strategy[*Job]{
			ValidateName: kind.DNSLabelName,
			Default: func(j *Job) {
				if j.Spec.Queue == "" {
					j.Spec.Queue = "default"
				}
			},
			Validate: func(j, old *Job) (errs field.Errors) {
				spec := field.Path("spec")
				if j.Spec.Priority < 0 {
					errs = append(errs, field.Invalid(spec.Child("priority"), j.Spec.Priority, "must be 0 or more"))
				}
				if old != nil && j.Spec.Queue != old.Spec.Queue {
					errs = append(errs, field.Forbidden(spec.Child("queue"), "is immutable"))
				}
				return errs
			},
		},
		SelectableFields: []kind.SelectableField[*Job]{
			{Path: "spec.queue", Value: func(j *Job) string { return j.Spec.Queue }},
		},
		Table: kind.Table[*Job]{Columns: []kind.Column[*Job]{
			kind.NameColumn[*Job](),
			{Name: "Queue", Type: "string", Cell: func(j *Job, _ time.Time) any { return j.Spec.Queue }},
			kind.AgeColumn[*Job](),
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	st := store.New(store.Options{})
	defer st.Close()
	c := jobs.In(st)
	ctx := context.Background()
	j, err := c.Create(ctx, &Job{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
	fmt.Println(j.Spec.Queue, err)
	_, err = c.Create(ctx, &Job{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "b"}, Spec: JobSpec{Priority: -1}}, store.CreateOptions{})
	fmt.Println(errors.Is(err, store.ErrInvalid), err)
	list, err := c.List(ctx, store.ListOptions{FieldSelector: "spec.queue=default"})
	fmt.Println(len(list.Items), err)

	// Output:
	// default <nil>
	// true Job.example.com "b" is invalid: spec.priority: Invalid value: -1: must be 0 or more
	// 1 <nil>
}
