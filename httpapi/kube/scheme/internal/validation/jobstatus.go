package validation

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// jobStatus checks an update of a Job's status. Most rules hold only if the update touches what they are about, so that old
// objects that break them can still be updated.
func jobStatus(e *errs, j, old *batchv1.Job) {
	p, s, was := field.NewPath("status"), &j.Status, &old.Status
	e.nonNegative(p.Child("active"), int64(s.Active))
	e.nonNegative(p.Child("succeeded"), int64(s.Succeeded))
	e.nonNegative(p.Child("failed"), int64(s.Failed))
	counts(e, p.Child("ready"), s.Ready)
	counts(e, p.Child("terminating"), s.Terminating)
	if pods := s.UncountedTerminatedPods; pods != nil {
		seen := map[types.UID]bool{}
		uncounted(e, p.Child("uncountedTerminatedPods", "succeeded"), pods.Succeeded, seen)
		uncounted(e, p.Child("uncountedTerminatedPods", "failed"), pods.Failed, seen)
	}
	c := &jobChange{j: j, old: old, complete: jobCondition(j, batchv1.JobComplete), failed: jobCondition(j, batchv1.JobFailed)}
	c.conditions(e, p)
	c.finished(e, p)
	c.indexes(e, p)
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		if jobCondition(old, kind) && !jobCondition(j, kind) {
			e.invalid(p.Child("conditions"), field.OmitValueType{}, fmt.Sprintf("cannot disable the terminal %s=True condition", kind))
		}
	}
	if s.Failed < was.Failed {
		e.invalid(p.Child("failed"), s.Failed, "cannot decrease the failed counter")
	}
	elastic := indexed(&j.Spec) && apiequality.Semantic.DeepEqual(j.Spec.Completions, j.Spec.Parallelism)
	if !elastic && s.Succeeded < was.Succeeded {
		e.invalid(p.Child("succeeded"), s.Succeeded, "cannot decrease the succeeded counter")
	}
	if s.CompletionTime != nil && was.CompletionTime != nil && !s.CompletionTime.Equal(was.CompletionTime) {
		e.invalid(p.Child("completionTime"), s.CompletionTime, "field is immutable")
	}
	resumes := jobCondition(old, batchv1.JobSuspended) && hasCondition(j, batchv1.JobSuspended, corev1.ConditionFalse)
	if was.StartTime != nil && !was.StartTime.Equal(s.StartTime) && !resumes && !deref(j.Spec.Suspend) {
		e.invalid(p.Child("startTime"), s.StartTime, "field is immutable for unsuspended job once set")
	}
	met, wasMet := jobCondition(j, batchv1.JobSuccessCriteriaMet), jobCondition(old, batchv1.JobSuccessCriteriaMet)
	if wasMet && !met {
		e.invalid(p.Child("conditions"), field.OmitValueType{}, "cannot disable the SuccessCriteriaMet=True condition")
	}
	if jobCondition(old, batchv1.JobComplete) && !wasMet && met {
		e.invalid(p.Child("conditions"), field.OmitValueType{}, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}

func uncounted(e *errs, p loc, pods []types.UID, seen map[types.UID]bool) {
	for i, uid := range pods {
		if uid == "" {
			e.invalid(p.Index(i), uid, "must not be empty")
		} else if seen[uid] {
			e.duplicate(p.Index(i), uid)
		}
		seen[uid] = true
	}
}

// A jobChange is an update of a Job's status.
type jobChange struct {
	j, old           *batchv1.Job
	complete, failed bool
}

// changed reports whether a condition is true in one of the objects only.
func (c *jobChange) changed(kind batchv1.JobConditionType) bool {
	return jobCondition(c.j, kind) != jobCondition(c.old, kind)
}

func (c *jobChange) finishedChanged() bool {
	was := jobCondition(c.old, batchv1.JobComplete) || jobCondition(c.old, batchv1.JobFailed)
	return was != (c.complete || c.failed)
}

func (c *jobChange) conditions(e *errs, p loc) {
	s, target, met := &c.j.Status, jobCondition(c.j, batchv1.JobFailureTarget), jobCondition(c.j, batchv1.JobSuccessCriteriaMet)
	conditions := func(detail string) { e.invalid(p.Child("conditions"), field.OmitValueType{}, detail) }
	completed, failedChanged := c.changed(batchv1.JobComplete), c.changed(batchv1.JobFailed)
	timed := !s.CompletionTime.Equal(c.old.Status.CompletionTime)
	if (completed || failedChanged) && c.complete && c.failed {
		conditions("cannot set Complete=True and Failed=true conditions")
	}
	if (completed || c.changed(batchv1.JobFailureTarget)) && c.complete && target {
		conditions("cannot set Complete=True and FailureTarget=true conditions")
	}
	if (completed || timed) && s.CompletionTime != nil && !c.complete {
		e.invalid(p.Child("completionTime"), s.CompletionTime, "cannot set completionTime when there is no Complete=True condition")
	}
	if (completed || timed) && s.CompletionTime == nil && c.complete {
		e.required(p.Child("completionTime"), "completionTime is required for Complete jobs")
	}
	started := !s.StartTime.Equal(c.old.Status.StartTime)
	if (started || timed) && s.StartTime != nil && s.CompletionTime != nil && s.CompletionTime.Before(s.StartTime) {
		e.invalid(p.Child("completionTime"), s.CompletionTime, "must be equal to or after `startTime`")
	}
	if (failedChanged || c.failedIndexesChanged()) && c.failed && !target {
		conditions("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if (completed || c.changed(batchv1.JobSuccessCriteriaMet)) && c.complete && !met {
		conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
}

func (c *jobChange) failedIndexesChanged() bool {
	return !apiequality.Semantic.DeepEqual(c.j.Status.FailedIndexes, c.old.Status.FailedIndexes)
}

// finished checks what a Job that ended may not have any more.
func (c *jobChange) finished(e *errs, p loc) {
	s, was, end := &c.j.Status, &c.old.Status, c.complete || c.failed
	changed := c.finishedChanged()
	if (changed || s.Active != was.Active) && s.Active > 0 && end {
		e.invalid(p.Child("active"), s.Active, "active>0 is invalid for finished job")
	}
	neverRan := deref(c.j.Spec.Suspend) && c.j.Spec.Completions != nil && *c.j.Spec.Completions == 0
	if (changed || !s.StartTime.Equal(was.StartTime)) && !neverRan && s.StartTime == nil && end {
		e.required(p.Child("startTime"), "startTime is required for finished job")
	}
	pods := s.UncountedTerminatedPods
	if (changed || !apiequality.Semantic.DeepEqual(pods, was.UncountedTerminatedPods)) && end && len(deref(pods).Failed)+len(deref(pods).Succeeded) > 0 {
		e.invalid(p.Child("uncountedTerminatedPods"), internal{pods}, "must be empty for finished job")
	}
}

func (c *jobChange) indexes(e *errs, p loc) {
	s, was, spec := &c.j.Status, &c.old.Status, &c.j.Spec
	completedChanged, failedChanged := s.CompletedIndexes != was.CompletedIndexes, c.failedIndexesChanged()
	completed, failed := p.Child("completedIndexes"), p.Child("failedIndexes")
	if completedChanged && spec.Completions != nil {
		if _, err := indexCount(s.CompletedIndexes, *spec.Completions); err != nil {
			e.invalid(completed, s.CompletedIndexes, "error parsing completedIndexes: "+err.Error())
		}
	}
	if failedChanged && spec.Completions != nil && spec.BackoffLimitPerIndex != nil && s.FailedIndexes != nil {
		if _, err := indexCount(*s.FailedIndexes, *spec.Completions); err != nil {
			e.invalid(failed, s.FailedIndexes, "error parsing failedIndexes: "+err.Error())
		}
	}
	if completedChanged && s.CompletedIndexes != "" && !indexed(spec) {
		e.invalid(completed, s.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if failedChanged && spec.BackoffLimitPerIndex == nil && s.FailedIndexes != nil {
		e.invalid(failed, *s.FailedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if (failedChanged || completedChanged) && spec.Completions != nil && s.FailedIndexes != nil {
		if at, ok := overlap(s.CompletedIndexes, *s.FailedIndexes, *spec.Completions); ok {
			e.invalid(failed, *s.FailedIndexes, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", at))
		}
	}
	if terminating := s.Terminating; terminating != nil && *terminating > 0 && (c.complete || c.failed) &&
		(c.finishedChanged() || !apiequality.Semantic.DeepEqual(terminating, was.Terminating)) {
		e.invalid(p.Child("terminating"), terminating, "terminating>0 is invalid for finished job")
	}
	if ready := s.Ready; ready != nil && *ready > s.Active && (s.Active != was.Active || !apiequality.Semantic.DeepEqual(ready, was.Ready)) {
		e.invalid(p.Child("ready"), *ready, "cannot set more ready pods than active")
	}
	met := jobCondition(c.j, batchv1.JobSuccessCriteriaMet)
	conditions := func(detail string) { e.invalid(p.Child("conditions"), field.OmitValueType{}, detail) }
	if met && c.failed {
		conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if met && jobCondition(c.j, batchv1.JobFailureTarget) {
		conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if spec.SuccessPolicy != nil && !met && c.complete {
		conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// overlap returns the first index that two lists of intervals have in common. Intervals that are not well-formed do not count.
func overlap(a, b string, completions int32) (at int32, ok bool) {
	if a == "" || b == "" {
		return 0, false
	}
	as, bs := strings.Split(a, ","), strings.Split(b, ",")
	for i, j := 0, 0; i < len(as) && j < len(bs); {
		aFrom, aTo, aErr := indexInterval(as[i], completions)
		bFrom, bTo, bErr := indexInterval(bs[j], completions)
		switch {
		case aErr != nil:
			i++
		case bErr != nil:
			j++
		case aFrom <= bTo && bFrom <= aTo:
			return max(aFrom, bFrom), true
		case aFrom <= bFrom:
			i++
		default:
			j++
		}
	}
	return 0, false
}
