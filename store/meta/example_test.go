package meta_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func ExampleStatusError() {
	var err error = meta.NewNotFound(meta.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "leader")

	fmt.Println(err)
	fmt.Println(errors.Is(err, meta.ReasonNotFound))
	var status *meta.StatusError
	if errors.As(err, &status) {
		fmt.Println(status.Status.Code, status.Status.Details.Kind, status.Status.Details.Name)
	}
	fmt.Println(meta.StatusOf(errors.New("a bug")).Code)

	// Output:
	// leases.coordination.k8s.io "leader" not found
	// true
	// 404 leases leader
	// 500
}

func ExampleNewMicroTime() {
	t := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	data, err := json.Marshal(map[string]any{"renewTime": meta.NewMicroTime(t), "creationTimestamp": meta.NewTime(t)})
	fmt.Println(string(data), err)
	var renewed meta.MicroTime // needs six digits of fraction
	fmt.Println(json.Unmarshal([]byte(`"2026-01-02T03:04:05.678901Z"`), &renewed), renewed)
	fmt.Println(json.Unmarshal([]byte(`"2026-01-02T03:04:05Z"`), &renewed) != nil)

	// Output:
	// {"creationTimestamp":"2026-01-02T03:04:05Z","renewTime":"2026-01-02T03:04:05.678901Z"} <nil>
	// <nil> 2026-01-02 03:04:05.678901 +0000 UTC
	// true
}

func ExampleTime() {
	var created meta.Time
	err := json.Unmarshal([]byte(`"2026-01-02T04:04:05+01:00"`), &created)
	same := meta.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	fmt.Println(err, created, created.Equal(&same), created.Equal(nil))

	// Output:
	// <nil> 2026-01-02 03:04:05 +0000 UTC true false
}

// A client decides by the Reason of an error how it goes on.
func ExampleReason() {
	leases := meta.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	for _, err := range []error{
		meta.NewConflict(leases, "leader", "the object has been modified"),
		meta.NewAlreadyExists(leases, "leader"),
		meta.NewExpired("The resourceVersion for the provided list is too old."),
		meta.NewInternalError(errors.New("a bug")),
		meta.NewBadRequest("limit: got %q, want a number", "x"),
		meta.NewStatusError(401, meta.ReasonUnauthorized, nil, "Unauthorized"),
	} {
		status := meta.StatusOf(err)
		switch status.Reason {
		case meta.ReasonConflict, meta.ReasonAlreadyExists:
			fmt.Println(status.Code, "read the object again")
		case meta.ReasonExpired:
			fmt.Println(status.Code, "list again")
		case meta.ReasonTooManyRequests, meta.ReasonServiceUnavailable, meta.ReasonTimeout, meta.ReasonInternalError:
			fmt.Println(status.Code, "send it again later")
		case meta.ReasonInvalid, meta.ReasonBadRequest, meta.ReasonMethodNotAllowed, meta.ReasonNotAcceptable:
			fmt.Println(status.Code, "the request is wrong:", status.Message)
		default:
			fmt.Println(status.Code, status.Reason)
		}
	}
	// Output:
	// 409 read the object again
	// 409 read the object again
	// 410 list again
	// 500 send it again later
	// 400 the request is wrong: limit: got "x", want a number
	// 401 Unauthorized
}

// The causes of a Status name the fields that are wrong.
func ExampleStatusDetails() {
	details := &meta.StatusDetails{Kind: "leases", Name: "leader", RetryAfterSeconds: 1, Causes: []meta.StatusCause{
		{Type: "FieldValueInvalid", Field: "spec.leaseDurationSeconds", Message: "must be greater than 0"},
	}}
	err := meta.NewStatusError(422, meta.ReasonInvalid, details, "the Lease is invalid")
	fmt.Println(err.Status.Status == meta.StatusFailure, err.Status.Status == meta.StatusSuccess)
	for _, cause := range err.Status.Details.Causes {
		fmt.Println(cause.Field, cause.Message)
	}
	// Output:
	// true false
	// spec.leaseDurationSeconds must be greater than 0
}

// Each manager of an object has an entry for its updates, and one for the configurations it applied.
func ExampleManagedFieldsEntry() {
	st := store.New(store.Options{})
	defer st.Close()
	leases := lease.In(st)
	ctx := context.Background()
	l := &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"app": "web"}}}
	if _, err := leases.Apply(ctx, l, store.ApplyOptions{FieldManager: "deployer"}); err != nil {
		fmt.Println(err)
		return
	}
	l, err := leases.Modify(ctx, "default", "a", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new("me")
		return nil
	}, store.UpdateOptions{FieldManager: "elector"})
	if err != nil {
		fmt.Println(err)
		return
	}
	verbs := map[meta.ManagedFieldsOperationType]string{
		meta.ManagedFieldsOperationApply: "applied", meta.ManagedFieldsOperationUpdate: "updated",
	}
	var entry meta.ManagedFieldsEntry
	for _, entry = range l.ManagedFields {
		fmt.Printf("%s %s %s\n", entry.Manager, verbs[entry.Operation], entry.FieldsV1.Raw)
	}
	// Output:
	// deployer applied {"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{}}
	// elector updated {"f:spec":{"f:holderIdentity":{}}}
}

func ExampleParseGroupVersion() {
	for _, apiVersion := range []string{"coordination.k8s.io/v1", "v1", "a/b/c"} {
		var gv meta.GroupVersion
		gv, ok := meta.ParseGroupVersion(apiVersion)
		fmt.Printf("%q %q %v\n", gv.Group, gv.Version, ok)
	}
	// Output:
	// "coordination.k8s.io" "v1" true
	// "" "v1" true
	// "" "" false
}

// Two objects read at different times show whether a holder has renewed.
func ExampleMicroTime_Equal() {
	renewed := meta.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	later := meta.NewMicroTime(renewed.Add(time.Microsecond))
	fmt.Println(renewed.Equal(&later), renewed.Equal(&renewed))
	// Output: false true
}
