package controllerruntime

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPatchesOfDifferentFieldsDoNotCollide(t *testing.T) {
	for name, from := range map[string]func(client.Object) client.Patch{
		"merge":     client.MergeFrom,
		"strategic": func(o client.Object) client.Patch { return client.StrategicMergeFrom(o) },
	} {
		t.Run(name, func(t *testing.T) {
			forms := []form{typed, untyped, metadataOnly}
			if name == "strategic" {
				forms = []form{typed, metadataOnly} // controller-runtime finds the strategy by the Go type
			}
			eachForm(t, func(t *testing.T, f *fixture) {
				one := f.given(t, "a", labelled(map[string]string{"old": "x"}))
				two := copyOf(one)
				before := copyOf(one)
				one.SetLabels(map[string]string{"old": "x", "one": "1"})
				require.NoError(t, f.Patch(t.Context(), one, from(before)))
				two.SetLabels(map[string]string{"two": "2"})
				require.NoError(t, f.Patch(t.Context(), two, from(before)), "a patch without a version may be stale")
				assert.Equal(t, map[string]string{"one": "1", "two": "2"}, two.GetLabels(), "the answer is the whole object")
				assert.Equal(t, two, f.get(t, "a"))
			}, forms...)
		})
	}
}

func TestStalePatchWithOptimisticLockIsAConflict(t *testing.T) {
	lock := client.MergeFromWithOptimisticLock{}
	for name, from := range map[string]func(client.Object) client.Patch{
		"merge":     func(o client.Object) client.Patch { return client.MergeFromWithOptions(o, lock) },
		"strategic": func(o client.Object) client.Patch { return client.StrategicMergeFrom(o, lock) },
	} {
		t.Run(name, func(t *testing.T) {
			forms := []form{typed, untyped, metadataOnly}
			if name == "strategic" {
				forms = []form{typed, metadataOnly}
			}
			eachForm(t, func(t *testing.T, f *fixture) {
				one := f.given(t, "a")
				two, before := copyOf(one), copyOf(one)
				one.SetLabels(map[string]string{"one": "1"})
				require.NoError(t, f.Patch(t.Context(), one, from(before)))
				two.SetLabels(map[string]string{"two": "2"})
				err := f.Patch(t.Context(), two, from(before))
				require.True(t, apierrors.IsConflict(err), "%v", err)
				assert.ErrorContains(t, err, "the object has been modified")
				assert.Equal(t, one, f.get(t, "a"))

				two = copyOf(one)
				two.SetLabels(map[string]string{"two": "2"})
				require.NoError(t, f.Patch(t.Context(), two, from(one)))
				assert.Equal(t, map[string]string{"two": "2"}, f.get(t, "a").GetLabels())
			}, forms...)
		})
	}
}

// The two patch types differ for lists that others also change.
func TestStrategicPatchKeepsTheFinalizersOfOthers(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		stale := f.given(t, "a")
		o := copyOf(stale)
		o.SetFinalizers([]string{"x.io/one"})
		require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(stale)))

		o = copyOf(stale)
		o.SetFinalizers([]string{"x.io/two"})
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1"}})
		require.NoError(t, f.Patch(t.Context(), o, client.StrategicMergeFrom(stale)))
		assert.ElementsMatch(t, []string{"x.io/one", "x.io/two"}, o.GetFinalizers())

		before := copyOf(o)
		o.SetFinalizers([]string{"x.io/one"})
		o.SetOwnerReferences(append(o.GetOwnerReferences(), metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "m", UID: "2"}))
		require.NoError(t, f.Patch(t.Context(), o, client.StrategicMergeFrom(before)))
		assert.Equal(t, []string{"x.io/one"}, f.get(t, "a").GetFinalizers())
		assert.Len(t, f.get(t, "a").GetOwnerReferences(), 2)

		o = copyOf(stale)
		o.SetFinalizers([]string{"x.io/three"})
		require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(stale)))
		assert.Equal(t, []string{"x.io/three"}, o.GetFinalizers(), "a merge patch replaces the list")
	}, typed, metadataOnly)
}

func TestRawPatchesAreSentUnchanged(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.given(t, "a", labelled(map[string]string{"one": "1"}))
		for _, row := range []struct {
			patch types.PatchType
			data  string
			want  map[string]string
		}{
			{types.JSONPatchType, `[{"op":"test","path":"/metadata/labels/one","value":"1"},{"op":"move","from":"/metadata/labels/one","path":"/metadata/labels/x~1y"}]`,
				map[string]string{"x/y": "1"}},
			{types.MergePatchType, `{"metadata":{"labels":{"two":"2"}}}`, map[string]string{"x/y": "1", "two": "2"}},
			{types.StrategicMergePatchType, `{"metadata":{"labels":{"$patch":"replace","three":"3"}}}`, map[string]string{"three": "3"}},
		} {
			require.NoError(t, f.Patch(t.Context(), o, client.RawPatch(row.patch, []byte(row.data))), row.data)
			assert.Equal(t, row.want, o.GetLabels(), row.data)
			assert.Equal(t, o, f.get(t, "a"))
		}
		before := o.GetResourceVersion()
		err := f.Patch(t.Context(), o, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"test","path":"/metadata/labels/three","value":"4"}]`)))
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
		assert.Equal(t, before, f.get(t, "a").GetResourceVersion())
	})
}

// client.Merge sends the object itself as a merge patch.
func TestMergeSendsTheObjectAsAPatch(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		f.given(t, "a", labelled(map[string]string{"old": "x"}))
		o := f.empty(t)
		o.SetNamespace("test")
		o.SetName("a")
		o.SetLabels(map[string]string{"new": "y"})
		require.NoError(t, f.Patch(t.Context(), o, client.Merge))
		assert.Equal(t, map[string]string{"old": "x", "new": "y"}, f.get(t, "a").GetLabels())
	}, untyped, metadataOnly)
}

func TestOptimisticLockLosesNoIncrement(t *testing.T) {
	const writers, each = 8, 10
	eachForm(t, func(t *testing.T, f *fixture) {
		f.given(t, "a", func(o client.Object) { o.SetAnnotations(map[string]string{"count": "0"}) })
		backoff := retry.DefaultBackoff
		backoff.Steps = 100
		var all sync.WaitGroup
		for w := range writers {
			c := client.WithFieldOwner(f.WithWatch, fmt.Sprint("writer-", w))
			all.Go(func() {
				for range each {
					assert.NoError(t, retry.RetryOnConflict(backoff, func() error {
						o := f.empty(t)
						if err := c.Get(t.Context(), key("a"), o); err != nil {
							return err
						}
						before := copyOf(o)
						n, err := strconv.Atoi(o.GetAnnotations()["count"])
						if err != nil {
							return err
						}
						o.SetAnnotations(map[string]string{"count": strconv.Itoa(n + 1)})
						return c.Patch(t.Context(), o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
					}))
				}
			})
		}
		all.Wait()
		assert.Equal(t, strconv.Itoa(writers*each), f.get(t, "a").GetAnnotations()["count"])
	})
}
