package zoo

import (
	"context"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/explorekube"
)

// step returns a step of a user.
func step(name string, do func(ctx context.Context, c client.Client) error) explore.Step {
	once := sync.OnceValues(scheme)
	return explore.Step{Name: name, Do: func(ctx context.Context, conn explore.Conn) error {
		types, err := once()
		if err != nil {
			return err
		}
		mapper, err := explorekube.RESTMapper(conn)
		if err != nil {
			return err
		}
		c, err := client.New(config(conn), client.Options{Scheme: types, Mapper: mapper})
		if err != nil {
			return err
		}
		return do(ctx, c)
	}}
}

// create creates objects, one a second.
func create(all ...client.Object) explore.Step {
	return step("create "+namesOf(all), func(ctx context.Context, c client.Client) error {
		for _, o := range all {
			if err := c.Create(ctx, o.DeepCopyObject().(client.Object)); err != nil {
				return err
			}
			time.Sleep(time.Second)
		}
		return nil
	})
}

func namesOf(all []client.Object) string {
	var names []string
	for _, o := range all {
		names = append(names, o.GetName())
	}
	return strings.Join(names, " and ")
}

// remove deletes an object.
func remove(o client.Object) explore.Step {
	return step("delete "+o.GetName(), func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, o.DeepCopyObject().(client.Object))
	})
}

// change changes an object.
func change[T client.Object](what string, o T, do func(ctx context.Context, c client.Client, o T) error) explore.Step {
	return step(what+" "+o.GetName(), func(ctx context.Context, c client.Client) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			now := o.DeepCopyObject().(T)
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
				return err
			}
			return do(ctx, c, now)
		})
	})
}

// setText changes the text of a Widget.
func setText(name, text string) explore.Step {
	return change("change", aWidget(name, ""), func(ctx context.Context, c client.Client, w *widget) error {
		w.Spec.Text = text
		return c.Update(ctx, w)
	})
}

// approve adds a condition to a Widget.
func approve(name string) explore.Step {
	return change("approve", aWidget(name, ""), func(ctx context.Context, c client.Client, w *widget) error {
		meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: "Approved", Status: metav1.ConditionTrue, Reason: "Looked"})
		return c.Status().Update(ctx, w)
	})
}

// scale changes the size of a StatefulSet.
func scale(name string, size int32) explore.Step {
	return change("scale", statefulSet(name, 0), func(ctx context.Context, c client.Client, set *appsv1.StatefulSet) error {
		set.Spec.Replicas = &size
		return c.Update(ctx, set)
	})
}

// blink creates a ConfigMap and deletes it a second later.
func blink(name string) explore.Step {
	return step("create and delete "+name, func(ctx context.Context, c client.Client) error {
		o := configMap(namespace, name, nil)
		if err := c.Create(ctx, o); err != nil {
			return err
		}
		time.Sleep(time.Second)
		return c.Delete(ctx, o)
	})
}

// createTwice creates a Widget and changes its text a second later.
func createTwice(name string) explore.Step {
	return step("create and change "+name, func(ctx context.Context, c client.Client) error {
		w := aWidget(name, "x")
		if err := c.Create(ctx, w); err != nil {
			return err
		}
		time.Sleep(time.Second)
		w.Spec.Text = "y"
		return c.Update(ctx, w)
	})
}

// setData changes the data of a ConfigMap.
func setData(name string, data map[string]string) explore.Step {
	return change("change", configMap(namespace, name, nil), func(ctx context.Context, c client.Client, o *corev1.ConfigMap) error {
		o.Data = data
		return c.Update(ctx, o)
	})
}

// changeAndAdd changes the data of a ConfigMap and, in the same moment, creates an object.
func changeAndAdd(o *corev1.ConfigMap, add client.Object) explore.Step {
	return change("change", o, func(ctx context.Context, c client.Client, o *corev1.ConfigMap) error {
		o.Data = map[string]string{"changed": "yes"}
		if err := c.Update(ctx, o); err != nil {
			return err
		}
		return c.Create(ctx, add.DeepCopyObject().(client.Object))
	})
}

// withData returns a copy with data.
func withData(o *corev1.ConfigMap, data map[string]string) *corev1.ConfigMap {
	o = o.DeepCopy()
	o.Data = data
	return o
}

const hold = "user.example.com/hold"

// removeHeld deletes a ConfigMap, and lets it go two seconds later.
func removeHeld(name string) explore.Step {
	return change("delete", configMap(namespace, name, nil), func(ctx context.Context, c client.Client, o *corev1.ConfigMap) error {
		if err := c.Delete(ctx, o); err != nil {
			return err
		}
		time.Sleep(2 * time.Second)
		return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	})
}

// held returns a copy that stays until removeHeld lets it go.
func held(o *corev1.ConfigMap) *corev1.ConfigMap {
	o = o.DeepCopy()
	o.Finalizers = []string{hold}
	return o
}

// aWidget returns a Widget to create.
func aWidget(name, text string) *widget {
	w := &widget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	w.Spec.Text = text
	return w
}

func statefulSet(name string, size int32) *appsv1.StatefulSet {
	labels := map[string]string{"set": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1.StatefulSetSpec{Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels)},
	}
}

func replicaSet(name string) *appsv1.ReplicaSet {
	labels := map[string]string{"set": name}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels)},
	}
}

func pod(name, set string) *corev1.Pod {
	t := template(map[string]string{"set": set})
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: t.Labels}, Spec: t.Spec}
}
