// Package validation checks built-in objects as kube-apiserver's strategies do: same rules, texts,
// members and order, except that errors about the entries of a map come in the order of their keys. Objects must have their
// defaults (package defaults) and be prepared as the strategy prepares them: a status that a create wipes is empty, a Job has
// its selector, members of features that are off are gone. Privileged containers are allowed, as kind and envtest do.
//
// A part of the rules is declared (package declared). Where both find a problem, upstream's function decides which error is reported.
//
// Metadata is not checked here, except by the rules that a kind has for its annotations; NameRule returns the rule for the name.
//
// What is left out stands in docs/kinds.md.
package validation

import (
	"bytes"
	"context"
	"maps"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared"
)

// Rules are the rules of all kinds.
type Rules struct {
	gates    *gates.Gates
	declared *declared.Rules
	options  map[string]bool // of the declared rules (upstream: the functions DeclarativeValidationConfig of the strategies)
}

// New returns the rules of a server with gates.
func New(g *gates.Gates) *Rules {
	r := &Rules{g, declared.New(), map[string]bool{}}
	for _, gate := range declaredGates() {
		r.options[gate] = g.Enabled(gate)
	}
	return r
}

// Gates returns the gates that decide what is valid.
func Gates() []string {
	return append(declaredGates(), "ClearingNominatedNodeNameAfterBinding", "DRAConsumableCapacity", fractions, "DRAListTypeAttributes", "EnvFiles",
		"ImageVolumeWithDigest", memoryVolumes, "SELinuxMount", "StatefulSetRecreateStrategy", "UserNamespacesHostNetworkSupport")
}

func declaredGates() []string {
	return []string{"DRAPartitionableDevicesType", scaleToZero, "InPlacePodVerticalScalingSchedulerPreemption", "WorkloadWithJob"}
}

// Validate returns the errors of an object: that is to be created if old is nil, else that is to replace old, by way of a subresource.
// "" is the object itself; the others are status, and approval, finalize, resize, ephemeralcontainers where a kind has them. Objects of
// kinds that it does not know have none. The types of obj and old must be the same.
func (r *Rules) Validate(subresource string, obj, old runtime.Object) field.ErrorList {
	e := &errs{write: &write{gates: r.gates}}
	if old != nil {
		e.before = func(was *errs) { grouped(was, "", old, nil) }
	}
	unchanged := e.unchanged(obj, old)
	grouped(e, subresource, obj, old)
	if unchanged {
		return merge(e.ErrorList, nil)
	}
	options := r.options
	if h, ok := old.(*autoscalingv2.HorizontalPodAutoscaler); ok && scalesToZero(h) {
		options = maps.Clone(options)
		options[scaleToZero] = true
	}
	return merge(e.ErrorList, r.declared.Errors(subresource, obj, old, options))
}

// unchanged compares the spec and the status of a Pod, which are large, with the old ones once for all rules. It reports whether both are
// equal, so that no declared rule looks at them (upstream: "don't revalidate unchanged data" in the generated code).
func (w *write) unchanged(obj, old runtime.Object) bool {
	pod, ok := obj.(*corev1.Pod)
	was := kindOf[corev1.Pod](old)
	if !ok || was == nil {
		return false
	}
	w.same = equal(&pod.Spec, &was.Spec)
	return w.same && equal(&pod.Status, &was.Status)
}

// equal is Semantic.DeepEqual, which is slow, so the bytes are compared first: the same bytes mean equal values.
func equal[T interface{ Marshal() ([]byte, error) }](now, was T) bool {
	a, err := now.Marshal()
	if err == nil {
		b, err := was.Marshal()
		if err == nil && bytes.Equal(a, b) {
			return true
		}
	}
	return apiequality.Semantic.DeepEqual(now, was)
}

// merge puts errors of declared rules in place of the ones that our rules have for the same (upstream: apiserver,
// registry/rest/validate.go). Rules in beta count without their gate too: we have no others in their place.
func merge(own, declared field.ErrorList) field.ErrorList {
	const beta = true
	ctx := context.Background()
	declared = validate.FilterEnforcedDeclarativeErrors(ctx, declared, beta)
	if len(own) > 0 {
		own = validate.FilterCoveredHandwrittenErrors(ctx, own, declared, beta)
	}
	return append(own, declared...)
}

func grouped(e *errs, subresource string, obj, old runtime.Object) {
	for _, group := range groups() {
		if group(e, subresource, obj, old) {
			return
		}
	}
}

// A group validates the kinds of an API group; it reports whether it knows the object's.
type group func(e *errs, subresource string, obj, old runtime.Object) bool

func groups() []group {
	return []group{
		validateCore, validateApps, validateBatch, validateAutoscaling, validateNetworking, validateRBAC, validatePolicy, validateStorage,
		validateDiscovery, validateEvents, validateScheduling, validateAdmission, validateCertificates, validateTrust, validateFlowcontrol,
		validateResource, validateMigration, validateAuthorization, validateAPIRegistration,
	}
}

// kindOf returns old as the type of the object, nil if there is none.
func kindOf[T any](old runtime.Object) *T {
	t, _ := any(old).(*T)
	return t
}
