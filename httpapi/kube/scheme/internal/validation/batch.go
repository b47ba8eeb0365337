package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateBatch(e *errs, subresource string, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *batchv1.Job:
		was := kindOf[batchv1.Job](old)
		if subresource == "status" {
			if was != nil {
				jobStatus(e, o, was)
			}
			return true
		}
		job(e, o, was)
		if was != nil {
			jobUpdate(e, o, was)
		}
	case *batchv1.CronJob:
		if subresource == "" {
			cronJob(e, o, kindOf[batchv1.CronJob](old))
		}
	default:
		return false
	}
	return true
}

// Labels that the controller of Jobs finds its pods by, and their names before 1.27.
const (
	oldControllerUID = "controller-uid"
	oldJobName       = "job-name"
)

func job(e *errs, j, old *batchv1.Job) {
	p := field.NewPath("spec")
	if old == nil {
		generatedSelector(e, j)
	}
	jobWithSelector(e, p, &j.Spec)
	if n := j.Spec.Completions; indexed(&j.Spec) && n != nil && *n > 0 {
		host := fmt.Sprintf("%s-%d", j.Name, *n-1)
		if len(validation.IsDNS1123Label(host)) > 0 {
			e.invalid(field.NewPath("metadata", "name"), j.Name, "will not able to create pod with invalid DNS label: "+host)
		}
	}
}

func indexed(s *batchv1.JobSpec) bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}

// generatedSelector checks a selector that the user did not choose, and the labels in the template for it.
func generatedSelector(e *errs, j *batchv1.Job) {
	if deref(j.Spec.ManualSelector) || j.Spec.Selector == nil {
		return
	}
	e.present(field.NewPath("metadata", "uid"), string(j.UID))
	t := &j.Spec.Template
	has := func(key, value string) {
		p := field.NewPath("spec", "template", "metadata", "labels").Key(key)
		if got, ok := t.Labels[key]; !ok {
			e.required(p, fmt.Sprintf("must be '%s'", value))
		} else if got != value {
			e.invalid(p, t.Labels, fmt.Sprintf("must be '%s'", value))
		}
	}
	uid := string(j.UID)
	expected := labels.Set{oldControllerUID: uid, oldJobName: j.Name, batchv1.ControllerUidLabel: uid, batchv1.JobNameLabel: j.Name}
	has(oldControllerUID, uid)
	has(oldJobName, j.Name)
	has(batchv1.ControllerUidLabel, uid)
	has(batchv1.JobNameLabel, j.Name)
	if selector, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !selector.Matches(expected) {
		e.invalid(field.NewPath("spec", "selector"), j.Spec.Selector, "`selector` not auto-generated")
	}
}

func jobWithSelector(e *errs, p loc, s *batchv1.JobSpec) {
	jobSpec(e, p, s)
	if s.Selector == nil {
		e.required(p.Child("selector"), "")
	} else {
		e.selector(p.Child("selector"), s.Selector)
	}
	if selector, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		e.invalid(p.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
}

func jobSpec(e *errs, p loc, s *batchv1.JobSpec) {
	counts(e, p.Child("parallelism"), s.Parallelism)
	counts(e, p.Child("completions"), s.Completions)
	counts(e, p.Child("activeDeadlineSeconds"), s.ActiveDeadlineSeconds)
	counts(e, p.Child("backoffLimit"), s.BackoffLimit)
	counts(e, p.Child("ttlSecondsAfterFinished"), s.TTLSecondsAfterFinished)
	counts(e, p.Child("backoffLimitPerIndex"), s.BackoffLimitPerIndex)
	counts(e, p.Child("maxFailedIndexes"), s.MaxFailedIndexes)
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		e.required(p.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")
	}
	if s.ManagedBy != nil {
		e.add(validation.IsDomainPrefixedPath(p.Child("managedBy"), *s.ManagedBy)...)
		if len(*s.ManagedBy) > 63 {
			e.tooLong(p.Child("managedBy"), 63)
		}
	}
	optionalOneOf(e, p.Child("completionMode"), s.CompletionMode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)
	if indexed(s) {
		indexedJob(e, p, s)
	}
	if s.CompletionMode == nil || *s.CompletionMode == batchv1.NonIndexedCompletion {
		for _, member := range []struct {
			name string
			n    *int32
		}{{"backoffLimitPerIndex", s.BackoffLimitPerIndex}, {"maxFailedIndexes", s.MaxFailedIndexes}} {
			if member.n != nil {
				e.invalid(p.Child(member.name), *member.n, "requires indexed completion mode")
			}
		}
	}
	if s.PodFailurePolicy != nil {
		failurePolicy(e, p.Child("podFailurePolicy", "rules"), s)
	}
	if s.SuccessPolicy != nil {
		if indexed(s) {
			successPolicy(e, p.Child("successPolicy", "rules"), s)
		} else {
			e.invalid(p.Child("successPolicy"), internal{s.SuccessPolicy}, "requires indexed completion mode")
		}
	}
	if policy := s.PodReplacementPolicy; policy != nil && s.PodFailurePolicy != nil {
		oneOf(e, p.Child("podReplacementPolicy"), *policy, batchv1.Failed)
	} else {
		optionalOneOf(e, p.Child("podReplacementPolicy"), policy, batchv1.Failed, batchv1.TerminatingOrFailed)
	}
	podTemplate(e, p.Child("template"), &s.Template)
	restart := p.Child("template", "spec", "restartPolicy")
	switch policy := s.Template.Spec.RestartPolicy; {
	case policy == corev1.RestartPolicyAlways, policy == "":
		e.required(restart, `valid values: "OnFailure", "Never"`)
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		unsupported(e, restart, policy, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	case s.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		e.invalid(restart, policy, `only "Never" is supported when podFailurePolicy is specified`)
	}
}

// indexedJob checks the limits of indexed Jobs, whose status lists indexes.
func indexedJob(e *errs, p loc, s *batchv1.JobSpec) {
	const many, fewer = 100_000, 10_000
	if s.Completions == nil {
		e.required(p.Child("completions"), "when completion mode is Indexed")
	}
	completions, parallelism, failed := deref(s.Completions), deref(s.Parallelism), deref(s.MaxFailedIndexes)
	if parallelism > many {
		e.invalid(p.Child("parallelism"), parallelism, "must be less than or equal to 100000 when completion mode is Indexed")
	}
	if s.Completions != nil && s.MaxFailedIndexes != nil && failed > completions {
		e.invalid(p.Child("maxFailedIndexes"), failed, "must be less than or equal to completions")
	}
	if failed > many {
		e.invalid(p.Child("maxFailedIndexes"), failed, "must be less than or equal to 100000")
	}
	if completions <= many || s.BackoffLimitPerIndex == nil {
		return
	}
	const detail = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
	if s.MaxFailedIndexes == nil {
		e.required(p.Child("maxFailedIndexes"), "must be specified when completions is above 100000")
	}
	if parallelism > fewer {
		e.invalid(p.Child("parallelism"), parallelism, detail)
	}
	if failed > fewer {
		e.invalid(p.Child("maxFailedIndexes"), failed, detail)
	}
}

// listed is like requiredOneOf, with upstream's hint for batch/v1.
func listed[T ~string](e *errs, p loc, value T, valid ...T) {
	if value == "" {
		e.required(p, fmt.Sprintf("valid values: %q", valid))
	} else {
		oneOf(e, p, value, valid...)
	}
}

func failurePolicy(e *errs, p loc, s *batchv1.JobSpec) {
	rules := s.PodFailurePolicy.Rules
	if len(rules) > 20 {
		e.tooMany(p, len(rules), 20)
	}
	for i, rule := range rules {
		p := p.Index(i)
		if rule.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil {
			e.invalid(p.Child("action"), rule.Action, "requires the backoffLimitPerIndex to be set")
		}
		listed(e, p.Child("action"), rule.Action, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
			batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore)
		if rule.OnExitCodes != nil {
			exitCodes(e, p.Child("onExitCodes"), rule.OnExitCodes, &s.Template.Spec)
		}
		conditions := p.Child("onPodConditions")
		if n := len(rule.OnPodConditions); n > 20 {
			e.tooMany(conditions, n, 20)
		} else {
			for j, pattern := range rule.OnPodConditions {
				e.qualified(conditions.Index(j).Child("type"), string(pattern.Type))
				listed(e, conditions.Index(j).Child("status"), pattern.Status, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)
			}
		}
		if rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0 {
			e.invalid(p, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")
		}
		if rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0 {
			e.invalid(p, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")
		}
	}
}

func exitCodes(e *errs, p loc, r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.PodSpec) {
	listed(e, p.Child("operator"), r.Operator, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	named := func(c corev1.Container) bool { return c.Name == *r.ContainerName }
	if r.ContainerName != nil && !slices.ContainsFunc(pod.Containers, named) && !slices.ContainsFunc(pod.InitContainers, named) {
		e.invalid(p.Child("containerName"), *r.ContainerName, "must be one of the container or initContainer names in the pod template")
	}
	p = p.Child("values")
	if len(r.Values) == 0 {
		e.invalid(p, r.Values, "at least one value is required")
	} else if len(r.Values) > 255 {
		e.tooMany(p, len(r.Values), 255)
	}
	seen := map[int32]bool{}
	for i, code := range r.Values {
		if code == 0 && r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			e.invalid(p.Index(i), code, "must not be 0 for the In operator")
		}
		if seen[code] {
			e.duplicate(p.Index(i), code)
		}
		seen[code] = true
	}
	if !slices.IsSorted(r.Values) {
		e.invalid(p, r.Values, "must be ordered")
	}
}

func successPolicy(e *errs, p loc, s *batchv1.JobSpec) {
	rules := s.SuccessPolicy.Rules
	if len(rules) == 0 {
		e.required(p, "at least one rules must be specified when the successPolicy is specified")
	}
	if len(rules) > 20 {
		e.tooMany(p, len(rules), 20)
	}
	completions := deref(s.Completions)
	for i, rule := range rules {
		p := p.Index(i)
		if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
			e.required(p, "at least one of succeededCount or succeededIndexes must be specified")
		}
		var total int32
		if list := rule.SucceededIndexes; list != nil {
			if len(*list) > 64<<10 {
				e.tooLong(p.Child("succeededIndexes"), 64<<10)
			}
			n, err := indexCount(*list, completions)
			if err != nil {
				e.invalid(p.Child("succeededIndexes"), *list, "error parsing succeededIndexes: "+err.Error())
			}
			total = n
		}
		if n := rule.SucceededCount; n != nil {
			p := p.Child("succeededCount")
			e.nonNegative(p, int64(*n))
			if *n > completions {
				e.invalid(p, *n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))
			}
			if rule.SucceededIndexes != nil && *n > total {
				e.invalid(p, *n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
			}
		}
	}
}

// indexCount returns how many indexes a list like 1,3-5 has. They must increase and be less than completions.
func indexCount(list string, completions int32) (total int32, err error) {
	if list == "" {
		return 0, nil
	}
	last := int32(-1)
	for interval := range strings.SplitSeq(list, ",") {
		from, to, err := indexInterval(interval, completions)
		if err != nil {
			return 0, err
		}
		if last >= 0 && last >= from {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, from)
		}
		total += to - from + 1
		last = to
	}
	return total, nil
}

func indexInterval(interval string, completions int32) (from, to int32, err error) {
	parts := strings.Split(interval, "-")
	if len(parts) > 2 {
		return 0, 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", interval)
	}
	var bounds []int
	for _, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return 0, 0, fmt.Errorf("cannot convert string to integer for index: %q", part)
		}
		if n >= int(completions) {
			return 0, 0, fmt.Errorf("too large index: %q", part)
		}
		bounds = append(bounds, n)
	}
	if len(bounds) > 1 && bounds[0] >= bounds[1] {
		return 0, 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", bounds[0], bounds[1])
	}
	return int32(bounds[0]), int32(bounds[len(bounds)-1]), nil
}

func jobUpdate(e *errs, j, old *batchv1.Job) {
	p, s, was := field.NewPath("spec"), &j.Spec, &old.Spec
	jobWithSelector(e, p, s) // upstream's strategy does so twice
	switch completions := p.Child("completions"); {
	case !indexed(s):
		e.immutable(completions, s.Completions, was.Completions)
	case apiequality.Semantic.DeepEqual(s.Completions, was.Completions):
	case s.Completions == nil:
		e.immutable(completions, s.Completions, was.Completions)
	case *s.Completions != deref(s.Parallelism):
		e.invalid(completions, s.Completions, "can only be modified in tandem with spec.parallelism")
	}
	e.immutable(p.Child("selector"), s.Selector, was.Selector)
	jobTemplateUpdate(e, p, j, old)
	e.immutable(p.Child("completionMode"), s.CompletionMode, was.CompletionMode)
	frozenMember(e, p.Child("podFailurePolicy"), s.PodFailurePolicy, was.PodFailurePolicy)
	e.immutable(p.Child("backoffLimitPerIndex"), s.BackoffLimitPerIndex, was.BackoffLimitPerIndex)
	e.immutable(p.Child("managedBy"), s.ManagedBy, was.ManagedBy)
	frozenMember(e, p.Child("successPolicy"), s.SuccessPolicy, was.SuccessPolicy)
}

// frozenMember is immutable for a value that upstream prints as its internal type.
func frozenMember(e *errs, p loc, value, old any) {
	if !apiequality.Semantic.DeepEqual(value, old) {
		e.invalid(p, internal{value}, "field is immutable")
	}
}

// jobTemplateUpdate checks that the template stays, except for scheduling and resources of a Job that is suspended.
func jobTemplateUpdate(e *errs, p loc, j, old *batchv1.Job) {
	now, was := &j.Spec.Template, old.Spec.Template.DeepCopy()
	suspended := deref(old.Spec.Suspend)
	free := suspended && (old.Status.StartTime == nil || jobCondition(old, batchv1.JobSuspended)) && old.Status.Active == 0
	if free {
		nodes := deref(now.Spec.Affinity).NodeAffinity
		switch {
		case now.Spec.Affinity == nil && was.Spec.Affinity != nil:
			if was.Spec.Affinity.NodeAffinity = nil; *was.Spec.Affinity == (corev1.Affinity{}) {
				was.Spec.Affinity = nil
			}
		case now.Spec.Affinity != nil && was.Spec.Affinity == nil:
			was.Spec.Affinity = &corev1.Affinity{NodeAffinity: nodes}
		case now.Spec.Affinity != nil:
			was.Spec.Affinity.NodeAffinity = nodes
		}
		was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = now.Spec.NodeSelector, now.Spec.Tolerations, now.Spec.SchedulingGates
		was.Annotations, was.Labels = now.Annotations, now.Labels
	}
	if !suspended || !free {
		frozenMember(e, p.Child("template"), now, was)
		return
	}
	for _, list := range []struct{ now, was []corev1.Container }{
		{now.Spec.Containers, was.Spec.Containers}, {now.Spec.InitContainers, was.Spec.InitContainers},
	} {
		for i := range list.was {
			if len(list.now) == len(list.was) && list.now[i].Name == list.was[i].Name {
				list.was[i].Resources = list.now[i].Resources
			}
		}
	}
	frozenMember(e, p.Child("template.spec"), now.Spec, was.Spec)
}

func jobCondition(j *batchv1.Job, kind batchv1.JobConditionType) bool {
	return hasCondition(j, kind, corev1.ConditionTrue)
}

func hasCondition(j *batchv1.Job, kind batchv1.JobConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == status })
}

func cronJob(e *errs, c, old *batchv1.CronJob) {
	p, s := field.NewPath("spec"), &c.Spec
	if s.Schedule != "" {
		schedule(e, p.Child("schedule"), s, old != nil && strings.Contains(old.Spec.Schedule, "TZ"))
	}
	counts(e, p.Child("startingDeadlineSeconds"), s.StartingDeadlineSeconds)
	if old == nil || !apiequality.Semantic.DeepEqual(old.Spec.TimeZone, s.TimeZone) {
		timeZone(e, p.Child("timeZone"), s.TimeZone)
	}
	requiredOneOf(e, p.Child("concurrencyPolicy"), s.ConcurrencyPolicy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)
	spec := p.Child("jobTemplate", "spec")
	jobSpec(e, spec, &s.JobTemplate.Spec)
	if selector := s.JobTemplate.Spec.Selector; selector != nil {
		e.invalid(spec.Child("selector"), selector, "`selector` will be auto-generated")
	}
	if manual := s.JobTemplate.Spec.ManualSelector; deref(manual) {
		unsupported(e, spec.Child("manualSelector"), manual, "nil", "false")
	}
	counts(e, p.Child("successfulJobsHistoryLimit"), s.SuccessfulJobsHistoryLimit)
	counts(e, p.Child("failedJobsHistoryLimit"), s.FailedJobsHistoryLimit)
	if old == nil && len(c.Name) > validation.DNS1035LabelMaxLength-11 {
		e.invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters")
	}
}

func schedule(e *errs, p loc, s *batchv1.CronJobSpec, zoned bool) {
	if err := parseSchedule(s.Schedule); err != nil {
		e.invalid(p, s.Schedule, err.Error())
	}
	switch hasZone := strings.Contains(s.Schedule, "TZ"); {
	case zoned && hasZone && s.TimeZone != nil:
		e.invalid(p, s.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	case !zoned && hasZone:
		e.invalid(p, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	}
}

// parseSchedule returns what is wrong with a schedule. The library panics for some.
func parseSchedule(s string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(s)
	return err
}

func timeZone(e *errs, p loc, name *string) {
	if name == nil {
		return
	}
	if *name == "" {
		e.invalid(p, name, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(*name, "/") {
		good, err := regexp.MatchString(`^[A-Za-z\.\-_0-9+]{1,14}$`, part)
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !good || err != nil {
			e.invalid(p, name, "unknown time zone "+*name)
			return
		}
	}
	if strings.EqualFold(*name, "Local") {
		e.invalid(p, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(*name); err != nil {
		e.invalid(p, name, err.Error())
	}
}
