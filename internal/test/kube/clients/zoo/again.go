package zoo

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// again starts one Pod for each Job that has none. The mistake: the name is generated, and a create without an answer is tried again at once.
func again(wrong bool) run {
	return looped(func(ctx context.Context, k kubernetes.Interface) error {
		jobs, err := k.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods, err := k.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		have := map[string]bool{}
		for _, p := range pods.Items {
			have[p.Labels["job"]] = true
		}
		for _, job := range jobs.Items {
			if !have[job.Name] {
				startPod(ctx, k, &job, wrong)
			}
		}
		return nil
	})
}

func startPod(ctx context.Context, k kubernetes.Interface, job *batchv1.Job, wrong bool) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name + "-0", Labels: map[string]string{"job": job.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
	if wrong {
		pod.Name, pod.GenerateName = "", job.Name+"-"
	}
	for range 5 {
		if _, err := k.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); unlessExists(err) == nil {
			return
		}
		wait(ctx, time.Second)
	}
}
