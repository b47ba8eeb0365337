package kube_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

func newEvent(name string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, EventTime: metav1.NewMicroTime(time.Unix(1e9, 0)),
		ReportingController: "example.com/controller", ReportingInstance: "controller-1", Action: "Ship", Reason: "Shipped", Type: "Normal",
		Note: "It has left.", Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "cargo"},
	}
}

// An event that is created through one group is read, selected, changed, watched and deleted through the other one.
func TestEventsOfBothGroupsAreOneCollection(t *testing.T) {
	api := serve(t, apitest.Options{})
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: "http://test", Transport: api.Transport()})
	require.NoError(t, err)
	core, group, ctx := clients.CoreV1().Events("default"), clients.EventsV1().Events("default"), t.Context()
	watching, err := core.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer watching.Stop()

	created, err := group.Create(ctx, newEvent("e"), metav1.CreateOptions{})
	require.NoError(t, err)
	got, err := core.Get(ctx, "e", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "It has left.", got.Message)
	assert.Equal(t, "cargo", got.InvolvedObject.Name)
	assert.Equal(t, created.UID, got.UID)
	assert.Equal(t, created.ResourceVersion, got.ResourceVersion)
	assert.Equal(t, "events.k8s.io/v1", got.ManagedFields[0].APIVersion)
	seen := <-watching.ResultChan()
	assert.Equal(t, got, seen.Object)

	for _, selector := range []string{"regarding.name=cargo", "reportingController=example.com/controller,reason=Shipped"} {
		l, err := group.List(ctx, metav1.ListOptions{FieldSelector: selector})
		require.NoError(t, err)
		assert.Len(t, l.Items, 1, selector)
	}
	l, err := core.List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=cargo,source=example.com/controller"})
	require.NoError(t, err)
	assert.Len(t, l.Items, 1)
	_, err = group.List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=cargo"})
	assert.ErrorContains(t, err, "field label not supported: involvedObject.name")

	// The core group may change what events.k8s.io may not.
	got.Message = "It is back."
	_, err = core.Update(ctx, got, metav1.UpdateOptions{})
	require.NoError(t, err)
	now, err := group.Get(ctx, "e", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "It is back.", now.Note)
	now.Note = "It is lost."
	_, err = group.Update(ctx, now, metav1.UpdateOptions{})
	assert.ErrorContains(t, err, `Event "e" is invalid: message: Invalid value: "It is lost.": field is immutable`)
	_, err = group.Update(ctx, created, metav1.UpdateOptions{})
	assert.ErrorContains(t, err, `Operation cannot be fulfilled on events.events.k8s.io "e"`)

	require.NoError(t, group.Delete(ctx, "e", metav1.DeleteOptions{}))
	_, err = core.Get(ctx, "e", metav1.GetOptions{})
	assert.EqualError(t, err, `events "e" not found`)
	_, err = group.Get(ctx, "e", metav1.GetOptions{})
	assert.EqualError(t, err, `events.events.k8s.io "e" not found`)
}

// The Go API and forks see events of both groups, too.
func TestEventsOfBothGroupsInTheGoAPI(t *testing.T) {
	all, err := everyKind()
	require.NoError(t, err)
	coreKind, err := kube.KindOf[corev1.Event](clientgoscheme.Scheme, all)
	require.NoError(t, err)
	groupKind, err := kube.KindOf[eventsv1.Event](clientgoscheme.Scheme, all)
	require.NoError(t, err)
	st := store.New(store.Options{})
	defer st.Close()
	core, err := kube.In[corev1.Event](coreKind, st)
	require.NoError(t, err)
	group, err := kube.In[eventsv1.Event](groupKind, st)
	require.NoError(t, err)

	created, err := group.Create(t.Context(), newEvent("e"), store.CreateOptions{FieldManager: "recorder"})
	require.NoError(t, err)
	assert.Equal(t, "It has left.", created.Note)
	got, err := core.Get(t.Context(), "default", "e")
	require.NoError(t, err)
	assert.Equal(t, "It has left.", got.Message)
	_, err = group.Modify(t.Context(), "default", "e", func(e *eventsv1.Event) error {
		e.Series = &eventsv1.EventSeries{Count: 2, LastObservedTime: metav1.NewMicroTime(time.Unix(2e9, 0))}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	patched, err := group.Patch(t.Context(), "default", "e", store.MergePatch, []byte(`{"series":{"count":3}}`), store.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, int32(3), patched.Series.Count)
	applied, err := group.Apply(t.Context(), newEvent("applied"), store.ApplyOptions{FieldManager: "applier"})
	require.NoError(t, err)
	assert.Equal(t, "It has left.", applied.Note)

	fork, err := st.Fork()
	require.NoError(t, err)
	defer fork.Close()
	copies, err := kube.In[eventsv1.Event](groupKind, fork)
	require.NoError(t, err)
	kept, err := copies.Get(t.Context(), "default", "e")
	require.NoError(t, err)
	assert.Equal(t, int32(3), kept.Series.Count)
	for ev, err := range copies.Watch(t.Context(), store.WatchOptions{ResourceVersion: created.ResourceVersion}) {
		require.NoError(t, err)
		assert.Equal(t, watch.Modified, ev.Type)
		assert.Equal(t, "cargo", ev.Object.Regarding.Name)
		break
	}
}

// As in a kube-apiserver, a write through one group drops the managers of the other one.
func TestManagersOfTheOtherGroupAreDropped(t *testing.T) {
	api := serve(t, apitest.Options{})
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: "http://test", Transport: api.Transport()})
	require.NoError(t, err)
	core, group, ctx := clients.CoreV1().Events("default"), clients.EventsV1().Events("default"), t.Context()
	_, err = group.Create(ctx, newEvent("e"), metav1.CreateOptions{FieldManager: "first"})
	require.NoError(t, err)
	label := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
	changed, err := core.Patch(ctx, "e", types.MergePatchType, label, metav1.PatchOptions{FieldManager: "second"})
	require.NoError(t, err)
	require.Len(t, changed.ManagedFields, 1)
	assert.Equal(t, "second", changed.ManagedFields[0].Manager)
	back, err := group.Patch(ctx, "e", types.MergePatchType, []byte(`{"metadata":{"labels":{"c":"d"}}}`), metav1.PatchOptions{FieldManager: "third"})
	require.NoError(t, err)
	require.Len(t, back.ManagedFields, 1)
	assert.Equal(t, "third", back.ManagedFields[0].Manager)
}
