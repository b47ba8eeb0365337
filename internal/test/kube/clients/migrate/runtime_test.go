package migrate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// This file has the section of docs/migrate.md about controller-runtime's fake client.

func TestClientWithObjects(t *testing.T) {
	check := func(t *testing.T, c client.Client) {
		pod := &corev1.Pod{}
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, pod))
		assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	}
	pod := newPod("a")
	pod.Status.Phase = corev1.PodRunning
	t.Run("theirs", func(t *testing.T) {
		c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(pod).Build()
		check(t, c)
	})
	t.Run("ours", func(t *testing.T) {
		_, config := start(t, pod)
		c, err := client.NewWithWatch(config, client.Options{Scheme: clientgoscheme.Scheme})
		require.NoError(t, err)
		check(t, c)
	})
}

func TestClientWithStatusSubresource(t *testing.T) {
	check := func(t *testing.T, c client.Client) {
		w := newWidget()
		require.NoError(t, c.Create(t.Context(), w))
		require.NoError(t, unstructured.SetNestedField(w.Object, true, "status", "ready"))
		require.NoError(t, c.Status().Update(t.Context(), w))
		assert.Equal(t, true, w.Object["status"].(map[string]any)["ready"])
	}
	t.Run("theirs", func(t *testing.T) {
		c := fake.NewClientBuilder().WithStatusSubresource(newWidget()).Build()
		check(t, c)
	})
	t.Run("ours", func(t *testing.T) {
		_, config := start(t) // its definition of Widget has subresources: {status: {}}
		c, err := client.NewWithWatch(config, client.Options{})
		require.NoError(t, err)
		check(t, c)
	})
}

func TestClientWithIndex(t *testing.T) {
	check := func(t *testing.T, c client.Reader) {
		pods := &corev1.PodList{}
		require.NoError(t, c.List(t.Context(), pods, client.MatchingFields{"image": "i"}))
		assert.Len(t, pods.Items, 1)
	}
	image := func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.Containers[0].Image} }
	t.Run("theirs", func(t *testing.T) {
		c := fake.NewClientBuilder().WithObjects(newPod("a")).WithIndex(&corev1.Pod{}, "image", image).Build()
		check(t, c)
	})
	t.Run("ours", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, config := start(t, newPod("a"))
			c, err := cache.New(config, cache.Options{}) // in a manager: mgr.GetCache()
			require.NoError(t, err)
			require.NoError(t, c.IndexField(t.Context(), &corev1.Pod{}, "image", image))
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- c.Start(ctx) }()
			c.WaitForCacheSync(ctx)
			check(t, c)
			stop()
			require.NoError(t, <-ended)
		})
	})
}

func TestClientWithInterceptorFuncs(t *testing.T) {
	check := func(t *testing.T, c client.Client) {
		err := c.Update(t.Context(), newConfigMap("a"))
		assert.True(t, apierrors.IsConflict(err), "%v", err)
	}
	conflict := interceptor.Funcs{
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return apierrors.NewConflict(corev1.Resource("configmaps"), "a", nil)
		},
	}
	t.Run("theirs", func(t *testing.T) {
		c := fake.NewClientBuilder().WithObjects(newConfigMap("a")).WithInterceptorFuncs(conflict).Build()
		check(t, c)
	})
	t.Run("ours, with the same functions", func(t *testing.T) {
		_, config := start(t, newConfigMap("a"))
		real, err := client.NewWithWatch(config, client.Options{})
		require.NoError(t, err)
		c := interceptor.NewClient(real, conflict)
		check(t, c)
	})
	t.Run("ours, with a fault", func(t *testing.T) {
		api, config := start(t, newConfigMap("a"))
		c, err := client.NewWithWatch(config, client.Options{})
		require.NoError(t, err)
		api.Fault(apitest.Answer(409), apitest.Match{Verb: "update", Resource: "configmaps"}).MustHit()
		check(t, c)
	})
}

// newWidget returns an object of the definition in testdata.
func newWidget() *unstructured.Unstructured {
	w := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	w.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	w.SetNamespace("default")
	w.SetName("a")
	return w
}

// clientMistakes are mistakes of code that uses controller-runtime's client.
var clientMistakes = []mistake[client.WithWatch]{
	{what: "writes the status of a custom resource by Update", says: "the status is lost", run: func(ctx context.Context, c client.WithWatch) error {
		w := newWidget()
		if err := c.Create(ctx, w); err != nil {
			return err
		}
		w.Object["status"] = map[string]any{"ready": true}
		if err := c.Update(ctx, w); err != nil {
			return err
		}
		if w.Object["status"] == nil {
			return errors.New("the status is lost")
		}
		return nil
	}},
	{what: "creates a custom resource that its definition refuses", says: "spec.size in body should be greater than or equal to 1", run: func(ctx context.Context, c client.WithWatch) error {
		w := newWidget()
		w.Object["spec"] = map[string]any{"size": int64(0)}
		return c.Create(ctx, w)
	}},
	{what: "misspells a field, with strict validation", says: `strict decoding error: unknown field "spec.sise"`, run: func(ctx context.Context, c client.WithWatch) error {
		w := newWidget()
		w.Object["spec"] = map[string]any{"sise": int64(2)}
		return c.Create(ctx, w, client.FieldValidation(metav1.FieldValidationStrict))
	}},
	{what: "creates an invalid object", says: "spec.containers[0].image: Required value", run: func(ctx context.Context, c client.WithWatch) error {
		pod := newPod("a")
		pod.Spec.Containers[0].Image = ""
		return c.Create(ctx, pod)
	}},
	{what: "changes an immutable field", says: `type: Invalid value: "example.com/b": field is immutable`, run: func(ctx context.Context, c client.WithWatch) error {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Type: "example.com/a"}
		if err := c.Create(ctx, secret); err != nil {
			return err
		}
		secret.Type = "example.com/b"
		return c.Update(ctx, secret)
	}},
	{what: "compares its spec with the stored one", says: `restartPolicy is "Always"`, run: func(ctx context.Context, c client.WithWatch) error {
		pod := newPod("a")
		if err := c.Create(ctx, pod); err != nil {
			return err
		}
		return expect("restartPolicy", pod.Spec.RestartPolicy, newPod("a").Spec.RestartPolicy)
	}},
	{what: "compares generation with observedGeneration", says: "the generation is 1", run: func(ctx context.Context, c client.WithWatch) error {
		pod := newPod("a")
		if err := c.Create(ctx, pod); err != nil {
			return err
		}
		return expect("the generation", pod.Generation, pod.Status.ObservedGeneration)
	}},
	{what: "names an owner that it has not read", says: "metadata.ownerReferences[0].uid: Required value: must not be empty", run: func(ctx context.Context, c client.WithWatch) error {
		if err := c.Create(ctx, newConfigMap("owner")); err != nil {
			return err
		}
		owned := newConfigMap("owned")
		if err := controllerutil.SetControllerReference(newConfigMap("owner"), owned, clientgoscheme.Scheme); err != nil {
			return err
		}
		return c.Create(ctx, owned)
	}},
	{what: "adds a finalizer to an object that is being deleted", says: "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted", run: func(ctx context.Context, c client.WithWatch) error {
		config := newConfigMap("a")
		config.Finalizers = []string{"example.com/a"}
		if err := c.Create(ctx, config); err != nil {
			return err
		}
		if err := c.Delete(ctx, config); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(config), config); err != nil {
			return err
		}
		config.Finalizers = append(config.Finalizers, "example.com/b")
		return c.Update(ctx, config)
	}},
	{what: "deletes a successor of the object that it means", says: "the UID in the precondition (an older uid) does not match the UID in record", run: func(ctx context.Context, c client.WithWatch) error {
		if err := c.Create(ctx, newConfigMap("a")); err != nil {
			return err
		}
		return c.Delete(ctx, newConfigMap("a"), client.Preconditions{UID: new(types.UID("an older uid"))})
	}},
	{what: "applies an object that it has read", says: "metadata.managedFields must be nil", run: func(ctx context.Context, c client.WithWatch) error {
		config := &unstructured.Unstructured{}
		config.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		created := newConfigMap("a")
		created.Data = map[string]string{"k": "v"}
		if err := c.Create(ctx, created); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(created), config); err != nil {
			return err
		}
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), client.FieldOwner("me"), client.ForceOwnership)
	}},
	{what: "reads one page of a list", says: "the number of objects is 2", run: func(ctx context.Context, c client.WithWatch) error {
		for _, name := range []string{"a", "b", "c"} {
			if err := c.Create(ctx, newPod(name)); err != nil {
				return err
			}
		}
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods, client.InNamespace("default"), client.Limit(2)); err != nil {
			return err
		}
		return expect("the number of objects", len(pods.Items), 3)
	}},
	{what: "selects by an index of its test on a client without a cache", says: "field label not supported: image", run: func(ctx context.Context, c client.WithWatch) error {
		return c.List(ctx, &corev1.PodList{}, client.MatchingFields{"image": "i"})
	}},
	{what: "watches from a version that has expired", says: "too old resource version", fault: func(api *apitest.API) {
		api.Fault(apitest.ExpireHistory(), apitest.Match{Verb: "watch"}).MustHit()
	}, run: func(ctx context.Context, c client.WithWatch) error {
		first := newConfigMap("a")
		if err := c.Create(ctx, first); err != nil {
			return err
		}
		if err := c.Create(ctx, newConfigMap("b")); err != nil {
			return err
		}
		w, err := c.Watch(ctx, &corev1.ConfigMapList{}, &client.ListOptions{
			Namespace: "default", Raw: &metav1.ListOptions{ResourceVersion: first.ResourceVersion},
		})
		if err != nil {
			return err
		}
		defer w.Stop()
		return firstError(w)
	}},
	{what: "reads its own write from a cache", says: "the number of objects is 0", fault: func(api *apitest.API) {
		api.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{Verb: "list"}).MustHit()
	}, run: func(ctx context.Context, c client.WithWatch) error {
		if err := c.Create(ctx, newConfigMap("a")); err != nil {
			return err
		}
		list := &corev1.ConfigMapList{}
		if err := c.List(ctx, list, &client.ListOptions{Namespace: "default", Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
			return err
		}
		return expect("the number of objects", len(list.Items), 1)
	}},
	{what: "creates an object in a namespace that does not exist", says: `namespaces "nowhere" not found`, run: func(ctx context.Context, c client.WithWatch) error {
		return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nowhere", Name: "a"}})
	}},
	{what: "creates an object that a webhook refuses", says: `failed calling webhook "deny.example.com"`, run: func(ctx context.Context, c client.WithWatch) error {
		if err := c.Create(ctx, newWebhook()); err != nil {
			return err
		}
		return c.Create(ctx, newConfigMap("a"))
	}},
}

func TestMistakesThatTheFakeClientHides(t *testing.T) {
	image := func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.Containers[0].Image} }
	testMistakes(t, clientMistakes, "controller-runtime", map[string]func(*testing.T) client.WithWatch{
		"fake": func(*testing.T) client.WithWatch {
			return fake.NewClientBuilder().WithIndex(&corev1.Pod{}, "image", image).Build()
		},
	}, func(t *testing.T, setup func(*apitest.API)) client.WithWatch {
		api, config := start(t)
		if setup != nil {
			setup(api)
		}
		c, err := client.NewWithWatch(config, client.Options{})
		require.NoError(t, err)
		return c
	})
}
