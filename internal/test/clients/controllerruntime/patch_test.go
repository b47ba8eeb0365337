package controllerruntime

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
