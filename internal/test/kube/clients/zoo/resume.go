package zoo

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const phase = "zoo.example.com/phase"

// resume makes two ConfigMaps for each Job, between two writes of an annotation. The mistake: after an interruption it begins again by deleting
// all that has the label of the Job, and some of it is not its own.
func resume(wrong bool) run {
	return looped(func(ctx context.Context, k kubernetes.Interface) error {
		jobs, err := k.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var failed []error
		for _, job := range jobs.Items {
			if job.Annotations[phase] != "done" {
				failed = append(failed, resumeOne(ctx, k, &job, wrong))
			}
		}
		return errors.Join(failed...)
	})
}

func resumeOne(ctx context.Context, k kubernetes.Interface, job *batchv1.Job, wrong bool) error {
	if wrong && job.Annotations[phase] == "working" {
		all := metav1.ListOptions{LabelSelector: "app=" + job.Name}
		if err := k.CoreV1().ConfigMaps(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, all); err != nil {
			return err
		}
	}
	job, err := setPhase(ctx, k, job, "working")
	if err != nil {
		return err
	}
	for n := range 2 {
		child := configMap(namespace, fmt.Sprintf("%s-%d", job.Name, n), map[string]string{"app": job.Name})
		child.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		if _, err := k.CoreV1().ConfigMaps(namespace).Create(ctx, child, metav1.CreateOptions{}); unlessExists(err) != nil {
			return err
		}
	}
	_, err = setPhase(ctx, k, job, "done")
	return err
}

func setPhase(ctx context.Context, k kubernetes.Interface, job *batchv1.Job, to string) (*batchv1.Job, error) {
	if job.Annotations[phase] == to {
		return job, nil
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, phase, to)
	return k.BatchV1().Jobs(namespace).Update(ctx, job, metav1.UpdateOptions{})
}
