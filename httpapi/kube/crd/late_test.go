package crd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/webhooks"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

const lateDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parts.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: parts, kind: Part}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {first: {type: string}}}}}]
`

// A controller gets each event of a definition after the definition is gone and another one has its name, with another schema.
func TestLateEventsAreNotAboutTheDefinitionThatHasTheNameNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{Definitions()}})
		defer api.Close()
		calls := webhooks.New(webhooks.Options{Clock: st.Clock()})
		defer calls.Close()
		c, err := newController(api, calls)
		require.NoError(t, err)
		ctx := t.Context()
		type event = watch.Event[apiextensionsv1.CustomResourceDefinition]
		create := func(text string) *apiextensionsv1.CustomResourceDefinition {
			crds, err := parse([]byte(text))
			require.NoError(t, err)
			crd, err := c.definitions.Create(ctx, crds[0], store.CreateOptions{})
			require.NoError(t, err)
			c.handle(ctx, event{Type: watch.Added, Object: crd})
			return crd
		}

		added := create(lateDefinition)
		_, err = c.definitions.Delete(ctx, "", added.Name, store.DeleteOptions{})
		require.NoError(t, err)
		terminating, err := c.definitions.Get(ctx, "", added.Name)
		require.NoError(t, err)
		require.NotNil(t, terminating.DeletionTimestamp)
		c.handle(ctx, event{Type: watch.Modified, Object: terminating})
		c.ending.Wait()
		_, err = c.definitions.Get(ctx, "", added.Name)
		require.ErrorIs(t, err, store.ErrNotFound)
		deleted := terminating.DeepCopy()
		deleted.ResourceVersion = "1009"
		c.handle(ctx, event{Type: watch.Deleted, Object: deleted})

		again := create(strings.Replace(lateDefinition, "first", "second", 1))
		require.NotEqual(t, added.UID, again.UID)
		parts, err := store.As[store.Unstructured](api.Kinds()[len(api.Kinds())-1])
		require.NoError(t, err)
		part := &store.Unstructured{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}, Content: map[string]any{"second": "x"}}
		_, err = parts.In(st).Create(ctx, part, store.CreateOptions{})
		require.NoError(t, err)
		before, err := c.definitions.Get(ctx, "", again.Name)
		require.NoError(t, err)

		for _, late := range []event{{Type: watch.Added, Object: added}, {Type: watch.Modified, Object: terminating}, {Type: watch.Deleted, Object: deleted}} {
			c.handle(ctx, late)
			synctest.Wait()
			now, err := c.definitions.Get(ctx, "", again.Name)
			require.NoError(t, err)
			assert.Equal(t, before, now, "after a late %s", late.Type)
			got, err := parts.In(st).Get(ctx, "ns", "a")
			require.NoError(t, err)
			assert.Equal(t, "x", got.Content["second"])
		}
		_, err = c.definitions.Delete(ctx, "", again.Name, store.DeleteOptions{})
		require.NoError(t, err)
		before, err = c.definitions.Get(ctx, "", again.Name)
		require.NoError(t, err)
		require.NoError(t, c.finalize(ctx, c.known[again.Name], again.Name, added.UID), "an attempt that is late")
		now, err := c.definitions.Get(ctx, "", again.Name)
		require.NoError(t, err)
		assert.Equal(t, before, now)
		_, err = parts.In(st).Get(ctx, "ns", "a")
		assert.NoError(t, err)
	})
}

// A deletion that waits for the finalizer of an object ends with its definition, even if a client took the definition's finalizer
// away, and leaves the objects of the definition that follows.
func TestADeletionEndsWithItsDefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{Definitions()}, Parts: []httpapi.Part{httpapi.Controller(Run)}})
		defer api.Close()
		c, err := newController(api, nil)
		require.NoError(t, err)
		ctx := t.Context()
		crds, err := parse([]byte(lateDefinition))
		require.NoError(t, err)
		create := func(finalizers ...string) {
			_, err = c.definitions.Create(ctx, crds[0], store.CreateOptions{})
			require.NoError(t, err)
			synctest.Wait()
			parts, err := store.As[store.Unstructured](api.Kinds()[len(api.Kinds())-1])
			require.NoError(t, err)
			_, err = parts.In(st).Create(ctx, &store.Unstructured{
				ObjectMeta: meta.ObjectMeta{Namespace: "ns", GenerateName: "a-", Finalizers: finalizers}, Content: map[string]any{},
			}, store.CreateOptions{})
			require.NoError(t, err)
		}
		create("example.com/hold")
		_, err = c.definitions.Delete(ctx, "", crds[0].Name, store.DeleteOptions{})
		require.NoError(t, err)
		synctest.Wait()
		crd, err := c.definitions.Get(ctx, "", crds[0].Name)
		require.NoError(t, err)
		crd.Finalizers = nil
		_, err = c.definitions.Update(ctx, crd, store.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()

		create()
		before, err := c.definitions.Get(ctx, "", crds[0].Name)
		require.NoError(t, err)
		time.Sleep(2 * deletionWait)
		now, err := c.definitions.Get(ctx, "", crds[0].Name)
		require.NoError(t, err)
		assert.Equal(t, before, now)
		assert.Equal(t, 2, st.Len(api.Kinds()[len(api.Kinds())-1]), "the object that was held, and the new one")
	})
}
