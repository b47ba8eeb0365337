package zoo

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// resize makes the Pods NAME-0, NAME-1, … of each StatefulSet. The mistake: it writes the new size into the status before it is true, and
// believes the status when it continues.
func resize(wrong bool) run {
	return looped(func(ctx context.Context, k kubernetes.Interface) error {
		sets, err := k.AppsV1().StatefulSets(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods, err := k.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		have := map[string]bool{}
		for _, p := range pods.Items {
			have[p.Name] = true
		}
		var failed []error
		for _, set := range sets.Items {
			failed = append(failed, resizeOne(ctx, k, &set, have, wrong))
		}
		return errors.Join(failed...)
	})
}

func resizeOne(ctx context.Context, k kubernetes.Interface, set *appsv1.StatefulSet, have map[string]bool, wrong bool) error {
	want, size := int(*set.Spec.Replicas), int(set.Status.Replicas)
	if wrong && want == size {
		return nil
	}
	report := func() error {
		if size == want {
			return nil
		}
		set.Status.Replicas = int32(want)
		_, err := k.AppsV1().StatefulSets(namespace).UpdateStatus(ctx, set, metav1.UpdateOptions{})
		return err
	}
	if wrong {
		if err := report(); err != nil {
			return err
		}
	}
	for n := range want {
		name := fmt.Sprintf("%s-%d", set.Name, n)
		if have[name] {
			continue
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}},
			Spec:       set.Spec.Template.Spec,
		}
		if _, err := k.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); unlessExists(err) != nil {
			return err
		}
	}
	last := want
	for have[fmt.Sprintf("%s-%d", set.Name, last)] {
		last++
	}
	for n := last - 1; n >= want; n-- { // the highest first, so that none is missing in between
		if err := unlessGone(k.CoreV1().Pods(namespace).Delete(ctx, fmt.Sprintf("%s-%d", set.Name, n), metav1.DeleteOptions{})); err != nil {
			return err
		}
	}
	if wrong {
		return nil
	}
	return report()
}
