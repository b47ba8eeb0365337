package defaults

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func addBatch(r rules) {
	on(r, job)
	on(r, func(s *batchv1.CronJobSpec) {
		value(&s.ConcurrencyPolicy, batchv1.AllowConcurrent)
		pointer(&s.Suspend, false)
		pointer(&s.SuccessfulJobsHistoryLimit, 3)
		pointer(&s.FailedJobsHistoryLimit, 1)
	})
	on(r, func(p *batchv1.PodFailurePolicyOnPodConditionsPattern) { value(&p.Status, corev1.ConditionTrue) })
}

// job sets the defaults of a Job. The template in a CronJob gets none of them.
func job(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions = new(int32(1))
	}
	pointer(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		pointer(&s.BackoffLimit, math.MaxInt32)
	}
	pointer(&s.BackoffLimit, 6)
	if s.Template.Labels != nil && len(j.Labels) == 0 {
		j.Labels = s.Template.Labels // one map, as upstream: a Job that gets its selector adds labels to both
	}
	pointer(&s.CompletionMode, batchv1.NonIndexedCompletion)
	pointer(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		pointer(&s.PodReplacementPolicy, batchv1.Failed)
	}
	pointer(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	pointer(&s.ManualSelector, false)
}
