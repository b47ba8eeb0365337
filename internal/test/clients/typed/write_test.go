package typed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestCreateFillsInMetadataAndKeepsTheRest(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		start := time.Now().Truncate(time.Second)
		sent := k.new("a")
		sent.SetLabels(map[string]string{"l": "1"})
		sent.SetAnnotations(map[string]string{"a": "ä\n"})
		got, err := k.Create(t.Context(), sent, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.NotEmpty(t, got.GetUID())
		assert.NotZero(t, version(t, got))
		created := got.GetCreationTimestamp()
		assert.False(t, created.Time.Before(start))
		assert.Equal(t, got, k.get(t, "a"))

		want := sent.DeepCopyObject().(object)
		want.SetUID(got.GetUID())
		want.SetResourceVersion(got.GetResourceVersion())
		want.SetCreationTimestamp(created)
		want.SetManagedFields(got.GetManagedFields())
		want.GetObjectKind().SetGroupVersionKind(got.GetObjectKind().GroupVersionKind())
		assert.Equal(t, want, got)
	})
}

func TestCreateOfATakenNameAnswersAlreadyExists(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		k.create(t, "a")
		_, err := k.Create(t.Context(), k.new("a"), metav1.CreateOptions{})
		require.True(t, apierrors.IsAlreadyExists(err), "%v", err)
		assert.EqualError(t, err, k.resource+` "a" already exists`)
	})
}

func TestGenerateNameGivesEachObjectAName(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		seen := map[string]bool{}
		for range 20 {
			o := k.new("")
			o.SetGenerateName("some-")
			o, err := k.Create(t.Context(), o, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Regexp(t, `^some-[a-z0-9]{5}$`, o.GetName())
			seen[o.GetName()] = true
		}
		assert.Len(t, seen, 20)
	})
}

func TestUpdateGrowsTheVersionUnlessNothingChanges(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		first := k.create(t, "a")
		second := k.update(t, first)
		assert.Greater(t, version(t, second), version(t, first))
		assert.Equal(t, first.GetUID(), second.GetUID())
		assert.Equal(t, first.GetCreationTimestamp(), second.GetCreationTimestamp())
		assert.Equal(t, second, k.get(t, "a"))

		same, err := k.Update(t.Context(), second, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, second, same)
	})
}

func TestStaleUpdateAnswersConflict(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		first := k.create(t, "a")
		second := k.update(t, first)
		k.change(first)
		_, err := k.Update(t.Context(), first, metav1.UpdateOptions{})
		require.True(t, apierrors.IsConflict(err), "%v", err)
		assert.EqualError(t, err, `Operation cannot be fulfilled on `+k.resource+
			` "a": the object has been modified; please apply your changes to the latest version and try again`)
		assert.Equal(t, second, k.get(t, "a"))
	})
}

func TestUpdateWithoutVersionDependsOnTheKind(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		o := k.create(t, "a")
		o.SetResourceVersion("")
		k.change(o)
		_, err := k.Update(t.Context(), o, metav1.UpdateOptions{})
		if k.unconditional {
			require.NoError(t, err)
			return
		}
		require.True(t, apierrors.IsInvalid(err), "%v", err)
		assert.True(t, apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid))
	})
}

func TestUpdateOfAMissingObjectCreatesIt(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		got, err := k.Update(t.Context(), k.new("a"), metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.NotEmpty(t, got.GetUID())
		assert.Equal(t, got, k.get(t, "a"))
	})
}

func TestUpdateWithAnotherUIDAnswersConflict(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		first := k.create(t, "a")
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		second := k.create(t, "a")
		first.SetResourceVersion(second.GetResourceVersion())
		_, err := k.Update(t.Context(), first, metav1.UpdateOptions{})
		require.True(t, apierrors.IsConflict(err), "%v", err)
	})
}

func TestInvalidObjectsAreRefusedWithTheirField(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		check := func(err error, want string) {
			t.Helper()
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			details := err.(apierrors.APIStatus).Status().Details
			require.NotNil(t, details)
			assert.Equal(t, "bad", details.Name)
			require.NotEmpty(t, details.Causes)
			assert.Equal(t, want, details.Causes[0].Field)
			assert.NotEmpty(t, details.Causes[0].Type)
			assert.NotEmpty(t, details.Causes[0].Message)
		}
		o := k.new("bad")
		fault := k.spoil(o)
		_, err := k.Create(t.Context(), o, metav1.CreateOptions{})
		check(err, fault)
		assert.Empty(t, k.names(t, metav1.ListOptions{}))

		o = k.create(t, "bad")
		k.spoil(o)
		_, err = k.Update(t.Context(), o, metav1.UpdateOptions{})
		check(err, fault)
	})
}

func TestInvalidNamesAndLabelsAreRefused(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		_, err := k.Create(t.Context(), k.new("a b"), metav1.CreateOptions{})
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
		o := k.new("a")
		o.SetLabels(map[string]string{"l": "not valid!"})
		_, err = k.Create(t.Context(), o, metav1.CreateOptions{})
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
		o = k.new("a")
		o.SetNamespace("other")
		_, err = k.Create(t.Context(), o, metav1.CreateOptions{})
		assert.True(t, apierrors.IsBadRequest(err), "%v", err)
	})
}

func TestDryRunChangesNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, api *testapi.API, k kind) {
		all := []string{metav1.DryRunAll}
		o, err := k.Create(t.Context(), k.new("a"), metav1.CreateOptions{DryRun: all})
		require.NoError(t, err)
		assert.NotEmpty(t, o.GetUID())
		assert.Empty(t, o.GetResourceVersion())
		assert.Empty(t, k.names(t, metav1.ListOptions{}))

		before := k.create(t, "a")
		at := api.Store.ResourceVersion()
		changed := before.DeepCopyObject().(object)
		k.change(changed)
		after, err := k.Update(t.Context(), changed, metav1.UpdateOptions{DryRun: all})
		require.NoError(t, err)
		assert.Equal(t, before.GetResourceVersion(), after.GetResourceVersion())
		patched, err := k.Patch(t.Context(), "a", mergePatch, []byte(`{"metadata":{"labels":{"l":"1"}}}`), metav1.PatchOptions{DryRun: all})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"l": "1"}, patched.GetLabels())
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{DryRun: all}))
		require.NoError(t, k.DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: all}, metav1.ListOptions{}))
		assert.Equal(t, before, k.get(t, "a"))
		assert.Equal(t, at, api.Store.ResourceVersion())
	})
}
