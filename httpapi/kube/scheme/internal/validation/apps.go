package validation

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateApps(e *errs, subresource string, obj, old runtime.Object) bool {
	p := field.NewPath("spec")
	if subresource == "status" {
		p = field.NewPath("status")
	}
	switch o := obj.(type) {
	case *appsv1.Deployment:
		if was := kindOf[appsv1.Deployment](old); subresource == "status" {
			deploymentStatus(e, p, &o.Status, was)
		} else if deploymentSpec(e, p, &o.Spec); was != nil {
			e.immutable(p.Child("selector"), o.Spec.Selector, was.Spec.Selector)
		}
	case *appsv1.ReplicaSet:
		if was := kindOf[appsv1.ReplicaSet](old); subresource == "status" {
			replicaSetStatus(e, p, &o.Status)
		} else if replicaSetSpec(e, p, &o.Spec); was != nil {
			e.immutable(p.Child("selector"), o.Spec.Selector, was.Spec.Selector)
		}
	case *appsv1.DaemonSet:
		if was := kindOf[appsv1.DaemonSet](old); subresource == "status" {
			daemonSetStatus(e, p, &o.Status, was)
		} else {
			if was != nil {
				e.immutable(p.Child("selector"), o.Spec.Selector, was.Spec.Selector)
			}
			daemonSetSpec(e, p, &o.Spec)
		}
	case *appsv1.StatefulSet:
		if was := kindOf[appsv1.StatefulSet](old); subresource == "status" {
			statefulSetStatus(e, p, &o.Status, was)
		} else {
			statefulSet(e, p, o, was)
		}
	case *appsv1.ControllerRevision:
		controllerRevision(e, o, kindOf[appsv1.ControllerRevision](old))
	default:
		return false
	}
	return true
}

// setSelector checks the selector of a controller; it returns nil if no labels can be matched with it.
func setSelector(e *errs, p loc, s *metav1.LabelSelector, kind, detail string) labels.Selector {
	if s == nil {
		e.required(p, "")
	} else {
		e.selector(p, s)
		if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			e.invalid(p, s, "empty selector is invalid for "+kind)
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		e.invalid(p, s, detail)
		return nil
	}
	return selector
}

func templateLabels(e *errs, p loc, t *corev1.PodTemplateSpec, selector labels.Selector) {
	if !selector.Empty() && !selector.Matches(labels.Set(t.Labels)) {
		e.invalid(p.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`")
	}
}

// runsAlways checks that the pods of a template are not to end.
func runsAlways(e *errs, p loc, t *corev1.PodTemplateSpec, kind string) {
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		unsupported(e, p.Child("spec", "restartPolicy"), t.Spec.RestartPolicy, corev1.RestartPolicyAlways)
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		e.forbidden(p.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

func setTemplate(e *errs, p loc, t *corev1.PodTemplateSpec, selector labels.Selector) {
	if selector != nil {
		templateLabels(e, p, t, selector)
		podTemplate(e, p, t)
		runsAlways(e, p, t, "ReplicaSet")
	}
}

func deploymentSpec(e *errs, p loc, s *appsv1.DeploymentSpec) {
	e.nonNegative(p.Child("replicas"), int64(deref(s.Replicas)))
	setTemplate(e, p.Child("template"), &s.Template, setSelector(e, p.Child("selector"), s.Selector, "deployment", "invalid label selector"))
	strategy, update := p.Child("strategy"), s.Strategy.RollingUpdate
	switch at := strategy.Child("rollingUpdate"); s.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if update != nil {
			e.forbidden(at, "may not be specified when strategy `type` is 'Recreate'")
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		if update == nil {
			e.required(at, "this should be defaulted and never be nil")
			break
		}
		unavailable, surge := deref(update.MaxUnavailable), deref(update.MaxSurge)
		e.intOrPercent(at.Child("maxUnavailable"), unavailable)
		e.intOrPercent(at.Child("maxSurge"), surge)
		if amount(unavailable) == 0 && amount(surge) == 0 {
			e.invalid(at.Child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0")
		}
		e.notMoreThanAll(at.Child("maxUnavailable"), unavailable)
	default:
		bad := appsv1.DeploymentStrategy{Type: s.Strategy.Type}
		if update != nil {
			bad.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: new(deref(update.MaxUnavailable)), MaxSurge: new(deref(update.MaxSurge))}
		}
		unsupported(e, strategy, internal{bad}, appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType)
	}
	e.nonNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	counts(e, p.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)
	if deadline := s.ProgressDeadlineSeconds; deadline != nil {
		e.nonNegative(p.Child("progressDeadlineSeconds"), int64(*deadline))
		if *deadline <= s.MinReadySeconds {
			e.invalid(p.Child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds")
		}
	}
}

func deploymentStatus(e *errs, p loc, s *appsv1.DeploymentStatus, old *appsv1.Deployment) {
	e.nonNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	replicaCounts(e, p, count{"replicas", s.Replicas}, count{"updatedReplicas", s.UpdatedReplicas}, count{"readyReplicas", s.ReadyReplicas},
		count{"availableReplicas", s.AvailableReplicas}, count{"unavailableReplicas", s.UnavailableReplicas})
	counts(e, p.Child("terminatingReplicas"), s.TerminatingReplicas)
	counts(e, p.Child("collisionCount"), s.CollisionCount)
	notAbove(e, p, s.Replicas, count{"updatedReplicas", s.UpdatedReplicas}, count{"readyReplicas", s.ReadyReplicas}, count{"availableReplicas", s.AvailableReplicas})
	availableAboveReady(e, p, s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas")
	if old != nil {
		collisions(e, p, s.CollisionCount, old.Status.CollisionCount)
	}
}

// A count is a counter of a status with its name.
type count struct {
	name string
	n    int32
}

func replicaCounts(e *errs, p loc, list ...count) {
	for _, c := range list {
		e.nonNegative(p.Child(c.name), int64(c.n))
	}
}

func notAbove(e *errs, p loc, replicas int32, list ...count) {
	for _, c := range list {
		if c.n > replicas {
			e.invalid(p.Child(c.name), c.n, "cannot be greater than status.replicas")
		}
	}
}

func availableAboveReady(e *errs, p loc, available, ready int32, detail string) {
	if available > ready {
		e.invalid(p.Child("availableReplicas"), available, detail)
	}
}

func collisions(e *errs, p loc, now, old *int32) {
	if old != nil && (now == nil || *now < *old) {
		e.invalid(p.Child("collisionCount"), deref(now), "cannot be decremented")
	}
}

func replicaSetSpec(e *errs, p loc, s *appsv1.ReplicaSetSpec) {
	e.nonNegative(p.Child("replicas"), int64(deref(s.Replicas)))
	e.nonNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	setTemplate(e, p.Child("template"), &s.Template, setSelector(e, p.Child("selector"), s.Selector, "deployment", "invalid label selector"))
}

func replicaSetStatus(e *errs, p loc, s *appsv1.ReplicaSetStatus) {
	replicaCounts(e, p, count{"replicas", s.Replicas}, count{"fullyLabeledReplicas", s.FullyLabeledReplicas},
		count{"readyReplicas", s.ReadyReplicas}, count{"availableReplicas", s.AvailableReplicas})
	e.nonNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	counts(e, p.Child("terminatingReplicas"), s.TerminatingReplicas)
	notAbove(e, p, s.Replicas, count{"fullyLabeledReplicas", s.FullyLabeledReplicas}, count{"readyReplicas", s.ReadyReplicas}, count{"availableReplicas", s.AvailableReplicas})
	availableAboveReady(e, p, s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas")
}

func daemonSetSpec(e *errs, p loc, s *appsv1.DaemonSetSpec) {
	e.selector(p.Child("selector"), s.Selector)
	selector, err := metav1.LabelSelectorAsSelector(s.Selector)
	template := p.Child("template")
	if err == nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		e.invalid(template.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		e.invalid(p.Child("selector"), s.Selector, "empty selector is invalid for daemonset")
	}
	podTemplate(e, template, &s.Template)
	runsAlways(e, template, &s.Template, "DaemonSet")
	e.nonNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	daemonSetUpdate(e, p.Child("updateStrategy"), &s.UpdateStrategy)
	counts(e, p.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)
}

func daemonSetUpdate(e *errs, p loc, s *appsv1.DaemonSetUpdateStrategy) {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		bad := appsv1.DaemonSetUpdateStrategy{Type: s.Type}
		if update := s.RollingUpdate; update != nil {
			bad.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(deref(update.MaxUnavailable)), MaxSurge: new(deref(update.MaxSurge))}
		}
		unsupported(e, p, internal{bad}, appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType)
		return
	}
	if p = p.Child("rollingUpdate"); s.RollingUpdate == nil {
		e.required(p, "")
		return
	}
	unavailable, surge := deref(s.RollingUpdate.MaxUnavailable), deref(s.RollingUpdate.MaxSurge)
	e.intOrPercent(p.Child("maxUnavailable"), unavailable)
	e.intOrPercent(p.Child("maxSurge"), surge)
	e.notMoreThanAll(p.Child("maxUnavailable"), unavailable)
	e.notMoreThanAll(p.Child("maxSurge"), surge)
	if some := amount(unavailable) != 0; some && amount(surge) != 0 {
		e.invalid(p.Child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero")
	} else if !some && amount(surge) == 0 {
		e.required(p.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0")
	}
}

func daemonSetStatus(e *errs, p loc, s *appsv1.DaemonSetStatus, old *appsv1.DaemonSet) {
	replicaCounts(e, p, count{"currentNumberScheduled", s.CurrentNumberScheduled}, count{"numberMisscheduled", s.NumberMisscheduled},
		count{"desiredNumberScheduled", s.DesiredNumberScheduled}, count{"numberReady", s.NumberReady})
	e.nonNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	replicaCounts(e, p, count{"updatedNumberScheduled", s.UpdatedNumberScheduled}, count{"numberAvailable", s.NumberAvailable},
		count{"numberUnavailable", s.NumberUnavailable})
	counts(e, p.Child("collisionCount"), s.CollisionCount)
	if old != nil {
		collisions(e, p, s.CollisionCount, old.Status.CollisionCount)
	}
}

func statefulSet(e *errs, p loc, o, old *appsv1.StatefulSet) {
	statefulSetSpec(e, p, &o.Spec, old)
	if old == nil {
		return
	}
	now, was := &o.Spec, &old.Spec
	frozenMember(e, p.Child("selector"), now.Selector, was.Selector)
	frozenMember(e, p.Child("volumeClaimTemplates"), now.VolumeClaimTemplates, was.VolumeClaimTemplates)
	frozenMember(e, p.Child("serviceName"), now.ServiceName, was.ServiceName)
	frozenMember(e, p.Child("podManagementPolicy"), now.PodManagementPolicy, was.PodManagementPolicy)
}

func statefulSetSpec(e *errs, p loc, s *appsv1.StatefulSetSpec, old *appsv1.StatefulSet) {
	switch policy := s.PodManagementPolicy; policy {
	case "":
		e.required(p.Child("podManagementPolicy"), "")
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	default:
		e.invalid(p.Child("podManagementPolicy"), policy, "must be 'OrderedReady' or 'Parallel'")
	}
	update, types := p.Child("updateStrategy"), "must be 'RollingUpdate' or 'OnDelete'"
	recreate := appsv1.StatefulSetUpdateStrategyType("-")
	if e.gates.Enabled("StatefulSetRecreateStrategy") {
		recreate, types = appsv1.RecreateStatefulSetStrategyType, "must be 'RollingUpdate', 'OnDelete', or 'Recreate'"
	}
	switch rolling := s.UpdateStrategy.RollingUpdate; s.UpdateStrategy.Type {
	case "":
		e.required(update, "")
	case appsv1.OnDeleteStatefulSetStrategyType, recreate:
		if rolling != nil {
			shown := *rolling
			shown.Partition = new(deref(rolling.Partition)) // the internal type has no pointer
			e.invalid(update.Child("rollingUpdate"), internal{shown}, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if rolling != nil {
			e.nonNegative(update.Child("rollingUpdate", "partition"), int64(deref(rolling.Partition)))
		}
	default:
		e.invalid(update, internal{s.UpdateStrategy}, types)
	}
	if retention := s.PersistentVolumeClaimRetentionPolicy; retention != nil {
		for _, when := range []struct {
			name   string
			policy appsv1.PersistentVolumeClaimRetentionPolicyType
		}{{"whenDeleted", retention.WhenDeleted}, {"whenScaled", retention.WhenScaled}} {
			oneOf(e, p.Child("persistentVolumeClaimRetentionPolicy", when.name), when.policy,
				appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)
		}
	}
	for i := range s.VolumeClaimTemplates {
		if old == nil { // they cannot change later
			claimSpec(e, p.Child("volumeClaimTemplates").Index(i).Child("spec"), &s.VolumeClaimTemplates[i].Spec, false)
		}
	}
	e.nonNegative(p.Child("replicas"), int64(deref(s.Replicas)))
	e.nonNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	if s.Ordinals != nil {
		e.nonNegative(p.Child("ordinals.start"), int64(s.Ordinals.Start))
	}
	if old == nil && s.ServiceName != "" {
		e.label(p.Child("serviceName"), s.ServiceName)
	}
	if selector := setSelector(e, p.Child("selector"), s.Selector, "statefulset", ""); selector != nil {
		template := p.Child("template")
		e.ratchet("templates of StatefulSets", func(e *errs) {
			templateLabels(e, template, &s.Template, selector)
			podTemplate(e, template, statefulTemplate(s))
			e.labels(template.Child("labels"), s.Template.Labels)
			e.annotations(template.Child("annotations"), s.Template.Annotations)
			podAnnotations(e, template.Child("annotations"), s.Template.Annotations, &s.Template.Spec)
		})
	}
	runsAlways(e, p.Child("template"), &s.Template, "StatefulSet")
}

// statefulTemplate returns the template with the volumes of the claims; the controller sets hostname and subdomain.
func statefulTemplate(s *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	t := s.Template.DeepCopy()
	t.Spec.Hostname, t.Spec.Subdomain = "", ""
	made := map[string]bool{}
	var volumes []corev1.Volume
	for i := range s.VolumeClaimTemplates {
		name := s.VolumeClaimTemplates[i].Name
		if !made[name] {
			source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
			volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: source})
		}
		made[name] = true
	}
	for _, v := range t.Spec.Volumes {
		if !made[v.Name] {
			volumes = append(volumes, v)
		}
	}
	t.Spec.Volumes = volumes
	return t
}

func statefulSetStatus(e *errs, p loc, s *appsv1.StatefulSetStatus, old *appsv1.StatefulSet) {
	replicaCounts(e, p, count{"replicas", s.Replicas}, count{"readyReplicas", s.ReadyReplicas}, count{"currentReplicas", s.CurrentReplicas},
		count{"updatedReplicas", s.UpdatedReplicas}, count{"availableReplicas", s.AvailableReplicas})
	e.nonNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	counts(e, p.Child("collisionCount"), s.CollisionCount)
	notAbove(e, p, s.Replicas, count{"readyReplicas", s.ReadyReplicas}, count{"currentReplicas", s.CurrentReplicas},
		count{"updatedReplicas", s.UpdatedReplicas}, count{"availableReplicas", s.AvailableReplicas})
	availableAboveReady(e, p, s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than status.readyReplicas")
	if old != nil {
		collisions(e, p, s.CollisionCount, old.Status.CollisionCount)
	}
}

func controllerRevision(e *errs, r, old *appsv1.ControllerRevision) {
	p := field.NewPath("data")
	e.nonNegative(field.NewPath("revision"), r.Revision)
	if old != nil {
		e.immutable(p, r.Data, old.Data)
		return
	}
	var tree any
	if err := json.Unmarshal(r.Data.Raw, &tree); r.Data.Raw == nil || err == nil && tree == nil {
		e.required(p, "data is mandatory")
	} else if err != nil {
		e.invalid(p, "<value omitted>", fmt.Sprintf("error parsing data: %v", err))
	} else if _, ok := tree.(map[string]any); !ok {
		e.required(p, "data must be a valid JSON object")
	}
}
