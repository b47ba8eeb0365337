package migrate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// This file has the section of docs/migrate.md about client-go's fake clientset.

func TestClientsetWithObjects(t *testing.T) {
	check := func(t *testing.T, client kubernetes.Interface) {
		pod, err := client.CoreV1().Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	}
	pod := newPod("a")
	pod.Status.Phase = corev1.PodRunning
	t.Run("theirs", func(t *testing.T) {
		client := fake.NewClientset(pod)
		check(t, client)
	})
	t.Run("ours", func(t *testing.T) {
		_, config := start(t, pod)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		check(t, client)
	})
}

func TestClientsetFailsOnce(t *testing.T) {
	check := func(t *testing.T, client kubernetes.Interface) {
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
		assert.True(t, apierrors.IsServiceUnavailable(err), "%v", err)
		_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
		assert.NoError(t, err)
	}
	t.Run("theirs", func(t *testing.T) {
		client := fake.NewClientset()
		failed := false
		client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
			if failed {
				return false, nil, nil
			}
			failed = true
			return true, nil, apierrors.NewServiceUnavailable("try later")
		})
		check(t, client)
	})
	t.Run("ours", func(t *testing.T) {
		api, config := start(t)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		api.Fault(apitest.Answer(503).First(1), apitest.Match{Verb: "create", Resource: "configmaps"}).MustHit()
		check(t, client)
	})
}

func TestClientsetDecidesByTheRequest(t *testing.T) {
	check := func(t *testing.T, client kubernetes.Interface) {
		for _, row := range []struct {
			name   string
			denied bool
		}{{"good", false}, {"bad", true}} {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap(row.name), metav1.CreateOptions{})
			assert.Equal(t, row.denied, apierrors.IsForbidden(err), row.name)
		}
	}
	t.Run("theirs", func(t *testing.T) {
		client := fake.NewClientset()
		client.PrependReactor("create", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
			created := action.(clienttesting.CreateAction).GetObject().(*corev1.ConfigMap)
			if created.Name != "bad" {
				return false, nil, nil
			}
			return true, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), created.Name, errors.New("bad name"))
		})
		check(t, client)
	})
	t.Run("ours", func(t *testing.T) {
		api, config := start(t)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		api.Fault(apitest.Choose(func(r apitest.Request) apitest.Effect {
			if r.Name != "bad" {
				return apitest.Effect{}
			}
			return apitest.Answer(403)
		}), apitest.Match{Verb: "create", Resource: "configmaps"})
		check(t, client)
	})
}

func TestClientsetEndsAWatch(t *testing.T) {
	check := func(t *testing.T, client kubernetes.Interface) {
		w, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		_, open := <-w.ResultChan()
		assert.False(t, open)
	}
	t.Run("theirs", func(t *testing.T) {
		client := fake.NewClientset()
		client.PrependWatchReactor("configmaps", func(clienttesting.Action) (bool, watch.Interface, error) {
			w := watch.NewFake()
			w.Stop()
			return true, w, nil
		})
		check(t, client)
	})
	t.Run("ours", func(t *testing.T) {
		api, config := start(t)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		api.Fault(apitest.EndWatch(0), apitest.Match{Verb: "watch", Resource: "configmaps"})
		check(t, client)
	})
}

func TestClientsetRecordsRequests(t *testing.T) {
	use := func(t *testing.T, client kubernetes.Interface) {
		configMaps := client.CoreV1().ConfigMaps("default")
		_, err := configMaps.Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = configMaps.Get(t.Context(), "b", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err))
	}
	t.Run("theirs", func(t *testing.T) {
		client := fake.NewClientset()
		use(t, client)
		require.Len(t, client.Actions(), 2)
		assert.True(t, client.Actions()[0].Matches("create", "configmaps"))
		assert.True(t, client.Actions()[1].Matches("get", "configmaps"))
		client.ClearActions()
	})
	t.Run("ours", func(t *testing.T) {
		api, config := start(t)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		api.ForgetRequests()
		use(t, client)
		api.Requests().Assert(t, "create configmaps default/a 201", "get configmaps default/b 404")
		api.ForgetRequests()
	})
}

func TestClientsetTracker(t *testing.T) {
	check := func(t *testing.T, client kubernetes.Interface) {
		_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
		assert.NoError(t, err)
	}
	t.Run("theirs", func(t *testing.T) {
		client := fake.NewClientset()
		require.NoError(t, client.Tracker().Add(newConfigMap("a")))
		check(t, client)
	})
	t.Run("ours", func(t *testing.T) {
		api, config := start(t)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		add(t, api, newConfigMap("a"))
		check(t, client)
	})
}

// clientsetMistakes are mistakes of code that uses client-go.
var clientsetMistakes = []mistake[kubernetes.Interface]{
	{what: "updates an object that another client has changed", says: "the object has been modified; please apply your changes to the latest version and try again", run: func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		mine, err := configMaps.Create(ctx, newConfigMap("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		theirs := mine.DeepCopy()
		theirs.Data = map[string]string{"theirs": "1"}
		if _, err := configMaps.Update(ctx, theirs, metav1.UpdateOptions{}); err != nil {
			return err
		}
		mine.Data = map[string]string{"mine": "1"}
		_, err = configMaps.Update(ctx, mine, metav1.UpdateOptions{})
		return err
	}},
	{what: "writes a status by Update", says: `the phase is "Pending"`, run: func(ctx context.Context, client kubernetes.Interface) error {
		pods := client.CoreV1().Pods("default")
		pod, err := pods.Create(ctx, newPod("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		pod.Status.Phase = corev1.PodRunning
		updated, err := pods.Update(ctx, pod, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		return expect("the phase", updated.Status.Phase, corev1.PodRunning)
	}},
	{what: "reads one page of a list", says: "the number of objects is 2", run: func(ctx context.Context, client kubernetes.Interface) error {
		for _, name := range []string{"a", "b", "c"} {
			if _, err := client.CoreV1().Pods("default").Create(ctx, newPod(name), metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{Limit: 2})
		if err != nil {
			return err
		}
		return expect("the number of objects", len(list.Items), 3)
	}},
	{what: "watches from a version that has expired", says: "too old resource version", fault: func(api *apitest.API) {
		api.Fault(apitest.ExpireHistory(), apitest.Match{Verb: "watch"}).MustHit()
	}, run: func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		first, err := configMaps.Create(ctx, newConfigMap("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if _, err := configMaps.Create(ctx, newConfigMap("b"), metav1.CreateOptions{}); err != nil {
			return err
		}
		w, err := configMaps.Watch(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion})
		if err != nil {
			return err
		}
		defer w.Stop()
		return firstError(w)
	}},
	{what: "compares its spec with the stored one", says: `restartPolicy is "Always"`, run: func(ctx context.Context, client kubernetes.Interface) error {
		pod := newPod("a")
		stored, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		return expect("restartPolicy", stored.Spec.RestartPolicy, pod.Spec.RestartPolicy)
	}},
	{what: "creates an invalid object", says: "spec.containers[0].image: Required value", run: func(ctx context.Context, client kubernetes.Interface) error {
		pod := newPod("a")
		pod.Spec.Containers[0].Image = ""
		_, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
		return err
	}},
	{what: "uses a name that no object may have", says: `metadata.name: Invalid value: "My_Config"`, run: func(ctx context.Context, client kubernetes.Interface) error {
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, newConfigMap("My_Config"), metav1.CreateOptions{})
		return err
	}},
	{what: "changes an immutable field", says: `type: Invalid value: "example.com/b": field is immutable`, run: func(ctx context.Context, client kubernetes.Interface) error {
		secrets := client.CoreV1().Secrets("default")
		secret, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Type: "example.com/a"}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		secret.Type = "example.com/b"
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
		return err
	}},
	{what: "patches an unknown field, strictly", says: `strict decoding error: unknown field "dta"`, run: func(ctx context.Context, client kubernetes.Interface) error {
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, newConfigMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := client.CoreV1().ConfigMaps("default").Patch(ctx, "a", "application/merge-patch+json", []byte(`{"dta":{"k":"v"}}`),
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	}},
	{what: "ignores the result of a create with generateName", says: "resource name may not be empty", run: func(ctx context.Context, client kubernetes.Interface) error {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, config, metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := client.CoreV1().ConfigMaps("default").Get(ctx, config.Name, metav1.GetOptions{})
		return err
	}},
	{what: "creates an object again that a finalizer still keeps", says: `object is being deleted: configmaps "a" already exists`, run: func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		kept := newConfigMap("a")
		kept.Finalizers = []string{"example.com/f"}
		if _, err := configMaps.Create(ctx, kept, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := configMaps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			return err
		}
		_, err := configMaps.Create(ctx, newConfigMap("a"), metav1.CreateOptions{})
		return err
	}},
	{what: "deletes a successor of the object that it means", says: "the UID in the precondition (an older uid) does not match the UID in record", run: func(ctx context.Context, client kubernetes.Interface) error {
		configMaps := client.CoreV1().ConfigMaps("default")
		if _, err := configMaps.Create(ctx, newConfigMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		return configMaps.Delete(ctx, "a", *metav1.NewPreconditionDeleteOptions("an older uid"))
	}},
	{what: "selects by a field that the kind does not have", says: "field label not supported: spec.hostname", run: func(ctx context.Context, client kubernetes.Interface) error {
		_, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{FieldSelector: "spec.hostname=h"})
		return err
	}},
	{what: "creates an object that has a resourceVersion", says: "resourceVersion should not be set on objects to be created", run: func(ctx context.Context, client kubernetes.Interface) error {
		copied := newConfigMap("a")
		copied.ResourceVersion = "7"
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, copied, metav1.CreateOptions{})
		return err
	}},
	{what: "compares generation with observedGeneration", says: "the generation is 1", run: func(ctx context.Context, client kubernetes.Interface) error {
		pods := client.CoreV1().Pods("default")
		pod, err := pods.Create(ctx, newPod("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		return expect("the generation", pod.Generation, pod.Status.ObservedGeneration)
	}},
	{what: "reads its own write from a cache", says: "the number of objects is 0", fault: func(api *apitest.API) {
		api.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{Verb: "list"}).MustHit()
	}, run: func(ctx context.Context, client kubernetes.Interface) error {
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, newConfigMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		list, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		return expect("the number of objects", len(list.Items), 1)
	}},
	{what: "creates an object in a namespace that does not exist", says: `namespaces "nowhere" not found`, run: func(ctx context.Context, client kubernetes.Interface) error {
		_, err := client.CoreV1().ConfigMaps("nowhere").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		return err
	}},
	{what: "creates an object that a webhook refuses", says: `failed calling webhook "deny.example.com"`, run: func(ctx context.Context, client kubernetes.Interface) error {
		if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, newWebhook(), metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, newConfigMap("a"), metav1.CreateOptions{})
		return err
	}},
}

// firstError returns the error of the first event of a watch.
func firstError(w watch.Interface) error {
	select {
	case event := <-w.ResultChan():
		if event.Type == watch.Error {
			return apierrors.FromObject(event.Object)
		}
		return nil
	case <-time.After(time.Minute): // in virtual time
		return nil // as a test that waits for nothing in particular
	}
}

func TestMistakesThatTheClientsetHides(t *testing.T) {
	testMistakes(t, clientsetMistakes, "client-go", map[string]func(*testing.T) kubernetes.Interface{
		"NewClientset":       func(*testing.T) kubernetes.Interface { return fake.NewClientset() },
		"NewSimpleClientset": func(*testing.T) kubernetes.Interface { return fake.NewSimpleClientset() },
	}, func(t *testing.T, setup func(*apitest.API)) kubernetes.Interface {
		api, config := start(t)
		if setup != nil {
			setup(api)
		}
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		return client
	})
}
