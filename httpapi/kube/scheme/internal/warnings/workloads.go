package warnings

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ofWorkloads adds the warnings about the owners of pods. An update warns about its template only if it counts a generation.
func ofWorkloads(l *list, obj, old runtime.Object) bool {
	template := field.NewPath("spec", "template")
	switch o := obj.(type) {
	case *appsv1.DaemonSet:
		if was := kindOf[appsv1.DaemonSet](old); was == nil || was.Annotations[appsv1.DeprecatedTemplateGeneration] != o.Annotations[appsv1.DeprecatedTemplateGeneration] {
			l.template(template, &o.Spec.Template)
		}
	case *appsv1.Deployment:
		if changed(l, o, kindOf[appsv1.Deployment](old)) {
			l.template(template, &o.Spec.Template)
		}
	case *appsv1.ReplicaSet:
		if changed(l, o, kindOf[appsv1.ReplicaSet](old)) {
			l.template(template, &o.Spec.Template)
		}
	case *appsv1.StatefulSet:
		stateful(l, o, kindOf[appsv1.StatefulSet](old))
	case *batchv1.Job:
		if changed(l, o, kindOf[batchv1.Job](old)) {
			job(l, field.NewPath("spec"), &o.Spec)
		}
	case *batchv1.CronJob:
		if changed(l, o, kindOf[batchv1.CronJob](old)) {
			job(l, field.NewPath("spec", "jobTemplate", "spec"), &o.Spec.JobTemplate.Spec)
		}
		if old != nil && strings.Contains(o.Spec.Schedule, "TZ") {
			l.add("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
		}
	default:
		return false
	}
	return true
}

// named is the metadata that decides about warnings.
type named interface {
	GetName() string
	GetGeneration() int64
}

// changed reports whether a write is a create or counts a generation. A create warns about the name first.
func changed[T any, P interface {
	*T
	named
}](l *list, o, old P) bool {
	if old == nil {
		ownerName(l, o.GetName())
		return true
	}
	return o.GetGeneration() != old.GetGeneration()
}

// ownerName warns about a name that is not fit for the names of pods.
func ownerName(l *list, name string) {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		l.add(fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", problems))
	}
}

// stateful warns about the claims with a path that an update spells otherwise, as upstream does.
func stateful(l *list, o, old *appsv1.StatefulSet) {
	spec := field.NewPath("spec")
	if old == nil || old.Generation != o.Generation {
		l.template(spec.Child("template"), &o.Spec.Template)
	}
	for i := range o.Spec.VolumeClaimTemplates {
		p := spec.Child("volumeClaimTemplates").Index(i)
		if old != nil {
			p = p.Child("Spec")
		}
		l.claim(p, &o.Spec.VolumeClaimTemplates[i].Spec)
	}
	if n := o.Spec.RevisionHistoryLimit; n != nil && *n < 0 {
		l.add("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
}

// job warns about the spec of a Job, which the spec of a CronJob has too.
func job(l *list, p *field.Path, s *batchv1.JobSpec) {
	const manyCompletions, muchParallelism = 100_000, 10_000
	if s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion &&
		s.Completions != nil && *s.Completions > manyCompletions && s.Parallelism != nil && *s.Parallelism > muchParallelism {
		l.at(p, "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	l.template(p.Child("template"), &s.Template)
}
