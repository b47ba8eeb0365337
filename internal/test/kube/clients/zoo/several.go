package zoo

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// several starts two Pods for each Job. The mistake: it counts them in its cache, which may not have the last one yet, and gives them generated names, so that now
// and then it starts three.
func several(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		jobs, pods := i.Batch().V1().Jobs(), i.Core().V1().Pods()
		sync := func(ctx context.Context, name string) error {
			job, err := i.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return unlessGone(err)
			}
			have, err := pods.Lister().Pods(namespace).List(labels.SelectorFromSet(labels.Set{"job": name}))
			if err != nil || len(have) >= 2 {
				return err
			}
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Labels:          map[string]string{"job": name},
					OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
				},
				Spec: job.Spec.Template.Spec,
			}
			pod.Name = fmt.Sprintf("%s-%d", name, len(have))
			if wrong {
				pod.Name, pod.GenerateName = "", name+"-"
			}
			_, err = i.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
			if err == nil {
				i.queue.Add(name) // for the next one
			}
			return err
		}
		if _, err := pods.Informer().AddEventHandler(i.queueLabel("job")); err != nil {
			return nil, err
		}
		return sync, i.queueNames(jobs.Informer())
	})
}
