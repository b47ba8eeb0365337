package printers

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
)

func replicationControllerCells(o *corev1.ReplicationController, c clock) []any {
	var spec corev1.PodSpec
	if o.Spec.Template != nil {
		spec = o.Spec.Template.Spec
	}
	names, images := containers(spec)
	return []any{
		o.Name, int64(deref(o.Spec.Replicas)), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas), c.age(o),
		names, images, formatLabels(o.Spec.Selector),
	}
}

func deploymentCells(o *appsv1.Deployment, c clock) []any {
	names, images := containers(o.Spec.Template.Spec)
	// Not formatSelector: an empty selector is "" here, as upstream.
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{
		o.Name, fraction(o.Status.ReadyReplicas, deref(o.Spec.Replicas)), int64(o.Status.UpdatedReplicas),
		int64(o.Status.AvailableReplicas), c.age(o), names, images, selector,
	}
}

func daemonSetCells(o *appsv1.DaemonSet, c clock) []any {
	names, images := containers(o.Spec.Template.Spec)
	s := o.Status
	return []any{
		o.Name, int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady),
		int64(s.UpdatedNumberScheduled), int64(s.NumberAvailable), formatLabels(o.Spec.Template.Spec.NodeSelector), c.age(o),
		names, images, formatSelector(o.Spec.Selector),
	}
}

func revisionCells(o *appsv1.ControllerRevision, c clock) []any {
	owner := none
	if ref := metav1.GetControllerOf(o); ref != nil {
		gk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		owner = ref.Name
		if !gk.Empty() {
			owner = strings.ToLower(gk.String()) + "/" + owner
		}
	}
	return []any{o.Name, owner, o.Revision, c.age(o)}
}

func jobCells(o *batchv1.Job, c clock) []any {
	names, images := containers(o.Spec.Template.Spec)
	var took string
	switch start, end := o.Status.StartTime, o.Status.CompletionTime; {
	case start == nil:
	case end == nil:
		took = duration.HumanDuration(time.Time(c).Sub(start.Time))
	default:
		took = duration.HumanDuration(end.Sub(start.Time))
	}
	return []any{o.Name, jobStatus(o), jobCompletions(o), took, c.age(o), names, images, formatSelector(o.Spec.Selector)}
}

func jobCompletions(o *batchv1.Job) string {
	done, parallel := o.Status.Succeeded, deref(o.Spec.Parallelism)
	switch {
	case o.Spec.Completions != nil:
		return fraction(done, *o.Spec.Completions)
	case parallel > 1:
		return fmt.Sprintf("%d/1 of %d", done, parallel)
	}
	return fraction(done, 1)
}

// jobStatus returns the most important condition that is true. A deletion comes after the conditions of jobs that have ended.
func jobStatus(o *batchv1.Job) string {
	is := func(t batchv1.JobConditionType) bool {
		for _, cond := range o.Status.Conditions {
			if cond.Type == t {
				return cond.Status == corev1.ConditionTrue
			}
		}
		return false
	}
	switch {
	case is(batchv1.JobComplete):
		return "Complete"
	case is(batchv1.JobFailed):
		return "Failed"
	case o.DeletionTimestamp != nil:
		return "Terminating"
	case is(batchv1.JobSuspended):
		return "Suspended"
	case is(batchv1.JobFailureTarget):
		return "FailureTarget"
	case is(batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func cronJobCells(o *batchv1.CronJob, c clock) []any {
	last, suspend := none, unset
	if t := o.Status.LastScheduleTime; t != nil {
		last = c.since(t.Time)
	}
	if s := o.Spec.Suspend; s != nil && *s {
		suspend = "True"
	} else if s != nil {
		suspend = "False"
	}
	names, images := containers(o.Spec.JobTemplate.Spec.Template.Spec)
	return []any{
		o.Name, o.Spec.Schedule, or(o.Spec.TimeZone, none), suspend, int64(len(o.Status.Active)), last, c.age(o),
		names, images, formatSelector(o.Spec.JobTemplate.Spec.Selector),
	}
}
