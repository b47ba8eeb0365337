package registry

import (
	"context"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// widget is a kind of a user's own.
type widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            string `json:"spec,omitempty" protobuf:"2"`
	Status          string `json:"status,omitempty" protobuf:"3"`
}

// checkedClock calls a function whenever the store calls the clock.
type checkedClock struct {
	clock.Real
	called func(what string)
}

func (c checkedClock) Now() time.Time { c.called("Now"); return c.Real.Now() }
func (c checkedClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.called("AfterFunc")
	return c.Real.AfterFunc(d, f)
}
func (c checkedClock) Fork() clock.Clock { c.called("Fork"); return c }

// checkedKind returns a kind whose every function calls a function.
func checkedKind(t *testing.T, called func(what string)) *kinds.Kind {
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Widget", Status: true},
		Strategy: kind.Strategy[meta.Object]{
			ValidateName: func(string, bool) []string { called("ValidateName"); return nil },
			Default:      func(kinds.Object) { called("Default") },
			Warnings:     func(_, _ kinds.Object) []string { called("Warnings"); return []string{"a warning"} }, Update: kind.UpdateStrategy[meta.Object]{CreateMissing: true, Unconditional: true,
				Prepare: func(_, _ kinds.Object) { called("PrepareForUpdate") }},
		},
		New: func() kinds.Object { called("New"); return &widget{} },
		SelectableFields: []kind.SelectableField[meta.Object]{{Path: "spec", Value: func(o kinds.Object) string {
			called("SelectableField.Value")
			return o.(*widget).Spec
		}}},
		Versions: []kind.Version[meta.Object]{
			{Name: "v1", Validate: func(_, _ kinds.Object) field.Errors { called("Validate"); return nil }},
			{
				Name: "v1beta1",
				Form: kind.Form{New: func() kinds.Object { called("Version.New"); return &widget{} },
					Convert: kind.ConvertBy(
						func(o kinds.Object) kinds.Object { called("Convert to a version"); return o },
						func(o kinds.Object) kinds.Object { called("Convert to the stored form"); return o },
					)},
			},
		},
	})
	require.NoError(t, err)
	return k
}

// A clock or a function of a kind may call back into the store: the store never calls them
// while it holds its lock.
func TestNoCallbackUnderTheLock(t *testing.T) {
	seen := map[string]bool{}
	var st *Store
	called := func(what string) {
		seen[what] = true
		if st == nil {
			return
		}
		if !st.mu.TryLock() {
			t.Errorf("%s was called with the lock of the store held", what)
			return
		}
		st.mu.Unlock()
	}
	r := func() *Resource {
		made := New(Options{Clock: checkedClock{called: called}, HistoryAge: time.Hour, Seed: 1})
		t.Cleanup(made.Close)
		st = made
		return st.Resource(checkedKind(t, called))
	}()
	ctx := t.Context()
	warn := func(string) { called("Warn") }
	req := Request{Namespace: "ns", Name: "a", Warn: warn, FieldManager: "m"}
	object := func(name, spec string) kinds.Object {
		return &widget{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name, Finalizers: []string{"example.com/f"}}, Spec: spec}
	}
	replica, err := st.NewReplica(ReplicaOptions{Changes: 1})
	require.NoError(t, err)

	_, err = r.Create(ctx, object("a", "1"), new(req))
	require.NoError(t, err)
	_, err = r.Create(ctx, &widget{ObjectMeta: meta.ObjectMeta{Namespace: "ns", GenerateName: "b-"}}, new(req))
	require.NoError(t, err)
	for _, change := range []Change{
		r.Replace(object("a", "2")),
		&Patch{Type: MergePatch, Data: []byte(`{"spec":"3"}`), Validation: patch.Strict, Scheme: kinds.NewScheme(r.Kind)},
		&Apply{Config: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": "4"}, Force: true},
	} {
		_, _, err = r.Update(ctx, &req, change)
		require.NoError(t, err)
	}
	status := req
	status.Sub, status.Version = r.Kind.Subresource("status"), 1
	_, _, err = r.Update(ctx, &status, r.Replace(&widget{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}, Status: "fine"}))
	require.NoError(t, err)

	list, err := r.List(replica.Context(ctx), ListOptions{ResourceVersion: "0", FieldSelector: "spec=4", Warn: warn})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
	_, err = r.List(ctx, ListOptions{ResourceVersion: list.Meta().ResourceVersion, ResourceVersionMatch: MatchExact})
	require.NoError(t, err)
	w, err := r.Watch(ctx, ListOptions{FieldSelector: "spec=4", Timeout: -1, Warn: warn})
	require.NoError(t, err)
	_, err = w.Next(ctx)
	require.ErrorIs(t, err, io.EOF)
	w.Close()
	ended, end := context.WithCancel(ctx)
	end()
	_, err = r.Get(ended, "ns", "a", "999999")
	require.ErrorIs(t, err, context.Canceled)
	idle, err := r.Watch(ctx, ListOptions{ResourceVersion: strconv.FormatUint(st.ResourceVersion(), 10), Timeout: time.Hour})
	require.NoError(t, err)
	idle.wait(ended) // the ended context wakes it, after it has set its timer
	idle.Close()

	_, err = r.Delete(ctx, &req, &kinds.DeleteOptions{})
	require.NoError(t, err)
	gone := r.Replace(&widget{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}})
	_, _, err = r.Update(ctx, &req, gone)
	require.NoError(t, err)
	_, err = r.DeleteCollection(ctx, Request{}, ListOptions{Namespace: "ns"}, kinds.DeleteOptions{})
	require.NoError(t, err)
	restored, err := r.PrepareRestore(object("a", "5"), req)
	require.NoError(t, err)
	require.NoError(t, st.Restore([]*Restored{restored}, 0))
	items, _ := st.State(r)
	items[0][0].FaithfulVersion()
	st.ExpireHistory()
	f, err := st.Fork()
	require.NoError(t, err)
	f.Close()

	for _, what := range []string{
		"Now", "AfterFunc", "Fork", "Warn", "New", "Version.New", "Convert to a version", "Convert to the stored form",
		"ValidateName", "Default", "PrepareForUpdate", "Warnings", "Validate", "SelectableField.Value",
	} {
		assert.True(t, seen[what], "%s was never called", what)
	}
}
