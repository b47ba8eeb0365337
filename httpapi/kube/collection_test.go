package kube_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Backup is a type as a controller's author writes it.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BackupSpec   `json:"spec,omitempty"`
	Status            BackupStatus `json:"status,omitempty"`
}

type BackupSpec struct {
	Schedule string                      `json:"schedule"`
	Keep     *int32                      `json:"keep,omitempty"`
	From     corev1.LocalObjectReference `json:"from,omitempty"`
}

type BackupStatus struct {
	LastRun    *metav1.Time       `json:"lastRun,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

func (b *Backup) DeepCopyObject() runtime.Object {
	out := *b
	out.ObjectMeta = *b.ObjectMeta.DeepCopy()
	return &out
}

var backupKind = store.MustKind(kind.Descriptor[*store.Unstructured]{
	Resource: kind.Resource{Group: "example.com", Kind: "Backup", Status: true},
	Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}},
})

// atBothDoors runs a test with the Backups of a store, and with the Backups of a server.
func atBothDoors(t *testing.T, test func(t *testing.T, backups *store.Collection[Backup])) {
	serve := func(t *testing.T) *apitest.API {
		return apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: []kind.Kind{backupKind}}})
	}
	t.Run("store", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			backups, err := kube.In[Backup](backupKind, serve(t).Store())
			require.NoError(t, err)
			test(t, backups)
		})
	})
	t.Run("client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			api := serve(t)
			c, err := client.New(client.Config{Server: api.Host(), Transport: api.Transport()})
			require.NoError(t, err)
			defer c.Close()
			backups, err := kube.In[Backup](backupKind, c)
			require.NoError(t, err)
			test(t, backups)
		})
	})
}

func newBackup(name string) *Backup {
	return &Backup{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Backup"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": name}},
		Spec:       BackupSpec{Schedule: "@daily", Keep: new(int32(3))},
	}
}

func mustCreate(t *testing.T, backups *store.Collection[Backup], name string) *Backup {
	t.Helper()
	b, err := backups.Create(t.Context(), newBackup(name), store.CreateOptions{FieldManager: "test"})
	require.NoError(t, err)
	return b
}

func TestObjectsComeBackAsTheyWereWritten(t *testing.T) {
	atBothDoors(t, func(t *testing.T, backups *store.Collection[Backup]) {
		created := mustCreate(t, backups, "a")
		assert.Equal(t, newBackup("a").Spec, created.Spec)
		assert.Equal(t, map[string]string{"app": "a"}, created.Labels)
		assert.NotEmpty(t, created.UID)
		assert.EqualValues(t, 1, created.Generation)
		assert.False(t, created.CreationTimestamp.IsZero())
		require.Len(t, created.ManagedFields, 1)
		assert.Equal(t, "test", created.ManagedFields[0].Manager)

		got, err := backups.Get(t.Context(), "ns", "a")
		require.NoError(t, err)
		assert.Equal(t, created, got)

		got.Spec.Schedule = "@weekly"
		updated, err := backups.Update(t.Context(), got, store.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "@weekly", updated.Spec.Schedule)
		assert.EqualValues(t, 2, updated.Generation)
		_, err = backups.Update(t.Context(), created, store.UpdateOptions{})
		assert.ErrorIs(t, err, store.ErrConflict)
		_, err = backups.Get(t.Context(), "ns", "none")
		assert.ErrorIs(t, err, store.ErrNotFound)
	})
}

func TestStatusIsWrittenAlone(t *testing.T) {
	atBothDoors(t, func(t *testing.T, backups *store.Collection[Backup]) {
		b := mustCreate(t, backups, "a")
		b.Spec.Schedule = "not written"
		b.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"}}
		got, err := backups.Status().Update(t.Context(), b, store.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "@daily", got.Spec.Schedule)
		assert.Equal(t, b.Status.Conditions, got.Status.Conditions)
	})
}

func TestModifyChangesTheNewestState(t *testing.T) {
	atBothDoors(t, func(t *testing.T, backups *store.Collection[Backup]) {
		mustCreate(t, backups, "a")
		got, err := backups.Modify(t.Context(), "ns", "a", func(b *Backup) error { b.Spec.Keep = nil; return nil }, store.UpdateOptions{})
		require.NoError(t, err)
		assert.Nil(t, got.Spec.Keep)
		mine := errors.New("mine")
		_, err = backups.Modify(t.Context(), "ns", "a", func(*Backup) error { return mine }, store.UpdateOptions{})
		assert.Equal(t, mine, err)
	})
}

func TestPatchAndApplyReturnTheResult(t *testing.T) {
	atBothDoors(t, func(t *testing.T, backups *store.Collection[Backup]) {
		mustCreate(t, backups, "a")
		got, err := backups.Patch(t.Context(), "ns", "a", store.MergePatch, []byte(`{"spec":{"keep":7}}`), store.PatchOptions{FieldManager: "p"})
		require.NoError(t, err)
		assert.EqualValues(t, 7, *got.Spec.Keep)

		config := newBackup("a")
		config.Spec.Keep = new(int32(9))
		_, err = backups.Apply(t.Context(), config, store.ApplyOptions{FieldManager: "applier"})
		assert.ErrorIs(t, err, store.ErrConflict)
		got, err = backups.Apply(t.Context(), config, store.ApplyOptions{FieldManager: "applier", Force: true})
		require.NoError(t, err)
		assert.EqualValues(t, 9, *got.Spec.Keep)
	})
}

func TestListsAndDeletions(t *testing.T) {
	atBothDoors(t, func(t *testing.T, backups *store.Collection[Backup]) {
		for _, name := range []string{"a", "b", "c"} {
			mustCreate(t, backups, name)
		}
		page, err := backups.List(t.Context(), store.ListOptions{Namespace: "ns", Limit: 2})
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, names(page.Items))
		assert.NotEmpty(t, page.Continue)
		assert.NotEmpty(t, page.ResourceVersion)
		var all []*Backup
		for b, err := range backups.All(t.Context(), "") {
			require.NoError(t, err)
			all = append(all, b)
		}
		assert.Equal(t, []string{"a", "b", "c"}, names(all))

		gone, err := backups.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
		require.NoError(t, err)
		assert.Equal(t, "a", gone.Name)
		were, err := backups.DeleteCollection(t.Context(), store.DeleteOptions{}, store.ListOptions{Namespace: "ns", LabelSelector: "app=c"})
		require.NoError(t, err)
		assert.Equal(t, []string{"c"}, names(were.Items))
		page, err = backups.List(t.Context(), store.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"b"}, names(page.Items))
	})
}

func names(all []*Backup) (names []string) {
	for _, b := range all {
		names = append(names, b.Name)
	}
	return names
}

func TestWatchAndFollowSendTypedObjects(t *testing.T) {
	atBothDoors(t, func(t *testing.T, backups *store.Collection[Backup]) {
		mustCreate(t, backups, "a")
		first := true
		for ev, err := range backups.Watch(t.Context(), store.WatchOptions{Namespace: "ns"}) {
			require.NoError(t, err)
			if first {
				assert.Equal(t, watch.Added, ev.Type)
				assert.Equal(t, "@daily", ev.Object.Spec.Schedule)
				_, err := backups.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
				require.NoError(t, err)
				first = false
				continue
			}
			assert.Equal(t, watch.Deleted, ev.Type)
			assert.Equal(t, "a", ev.Object.Name)
			break
		}

		mustCreate(t, backups, "b")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for ev, err := range backups.Follow(ctx, store.WatchOptions{}) {
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
				assert.Zero(t, ev)
				return
			}
			assert.Equal(t, "b", ev.Object.Name)
			cancel()
		}
		assert.Fail(t, "Follow ended without an error")
	})
}

func TestAnObjectThatDoesNotFitIsAnErrorEverywhere(t *testing.T) {
	st := store.New(store.Options{})
	defer st.Close()
	backups, err := kube.In[Backup](backupKind, st)
	require.NoError(t, err)
	_, err = backupKind.In(st).Create(t.Context(), &store.Unstructured{
		ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}, Content: map[string]any{"spec": map[string]any{"keep": "many"}},
	}, store.CreateOptions{})
	require.NoError(t, err)

	const want = "kube: kube_test.Backup: "
	_, err = backups.Get(t.Context(), "ns", "a")
	assert.ErrorContains(t, err, want)
	_, err = backups.List(t.Context(), store.ListOptions{})
	assert.ErrorContains(t, err, "ns/a: "+want)
	_, err = backups.Modify(t.Context(), "ns", "a", func(*Backup) error { return nil }, store.UpdateOptions{})
	assert.ErrorContains(t, err, want)
	n := 0
	for b, err := range backups.All(t.Context(), "") {
		n++
		assert.Nil(t, b)
		assert.ErrorContains(t, err, want)
	}
	for ev, err := range backups.Watch(t.Context(), store.WatchOptions{}) {
		n++
		assert.Zero(t, ev)
		assert.ErrorContains(t, err, want)
	}
	assert.Equal(t, 2, n, "an error ends the loop")
}

func TestAKindWithAGoTypeHasNoSecondOne(t *testing.T) {
	st := store.New(store.Options{})
	defer st.Close()
	_, err := kube.In[Backup](lease.Kind(), st)
	assert.EqualError(t, err, "store: kind Lease: got objects of type *lease.Lease, want *kube_test.Backup")
}

// refusing is an Admission that refuses objects with a label.
type refusing struct{ asked int }

func (r *refusing) Admit(_ context.Context, a *admission.Attributes) error {
	r.asked++
	if a.Object != nil && a.Object.GetObjectMeta().Labels["refused"] != "" {
		return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, nil, "not today")
	}
	return nil
}

func (r *refusing) Validate(context.Context, *admission.Attributes) error { return nil }

func TestAdmissionOfACollection(t *testing.T) {
	admission := &refusing{}
	api := apitest.New(t, apitest.Options{API: httpapi.Options{
		Kinds: []kind.Kind{backupKind}, Admission: admission,
	}})
	backups, err := kube.In[Backup](backupKind, api.Store())
	require.NoError(t, err)
	ctx := t.Context()
	made, err := backups.Create(ctx, &Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}, store.CreateOptions{})
	require.NoError(t, err)
	made.Status.LastRun = &metav1.Time{}
	_, err = backups.Status().Update(ctx, made, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, 2, admission.asked)
	_, err = backups.Modify(ctx, "ns", "a", func(b *Backup) error {
		b.Labels = map[string]string{"refused": "yes"}
		return nil
	}, store.UpdateOptions{})
	require.EqualError(t, err, "not today")
	_, err = backups.Delete(ctx, "ns", "a", store.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, 4, admission.asked)
}
