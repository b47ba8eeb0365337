// Package validation checks built-in objects as kube-apiserver 1.36's strategies do with the default features: same rules, texts,
// members and order, except that errors about the entries of a map come in the order of their keys. Objects must have their
// defaults (package defaults) and be prepared as the strategy prepares them: a status that a create wipes is empty, a Job has
// its selector, members of features that are off are gone. Privileged containers are allowed, as kind and envtest do.
//
// Metadata is not checked here, except by the rules that a kind has for its annotations; NameRule returns the rule for the name.
//
// Not validated:
//
//   - Any kind: members that only 1.37 has. Whether names, addresses and ports are free. Upstream lets an update keep some values
//     that are not valid, if the old object has them (label values in selectors, sizes of huge pages, paths of projected tokens,
//     sysctls of host namespaces, topology spread constraints, services' names in StatefulSets' templates); here they are errors.
//   - Pod: sources clusterTrustBundle and podCertificate of projected volumes. In its status: users, allocated resources and
//     volumes of containers, the claims for extended and node resources.
//   - Node: spec.configSource, status.config, the annotation preferAvoidPods.
//   - HorizontalPodAutoscaler of autoscaling/v1: metrics and behaviour in annotations.
//   - ValidatingAdmissionPolicy, MutatingAdmissionPolicy and their bindings: whether the user may read the parameters, which
//     package cluster checks.
//   - FlowSchema, PriorityLevelConfiguration: that the mandatory ones (exempt, catch-all) have their fixed specs.
//   - ResourceClaim, ResourceClaimTemplate: capacity requests. In the status of a claim: a new
//     allocation, and the devices. DeviceClass: extendedResourceName.
//   - ResourceSlice: policies for capacities, counters, binding conditions, mappings to node resources, lists in attributes, nodes
//     of single devices. DeviceTaintRule: nothing is checked.
//   - LeaseCandidate: the root module has the kind.
package validation

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns the errors of an object: that is to be created if old is nil, else that is to replace old. Objects of
// kinds that it does not know have none. The types of obj and old must be the same.
func Validate(obj, old runtime.Object) field.ErrorList { return ValidateSubresource("", obj, old) }

// ValidateSubresource is like Validate for a write by way of a subresource: "" is the object itself; status, and approval,
// finalize, resize, ephemeralcontainers where a kind has them.
func ValidateSubresource(subresource string, obj, old runtime.Object) field.ErrorList {
	e := &errs{}
	for _, group := range groups() {
		if group(e, subresource, obj, old) {
			break
		}
	}
	return e.ErrorList
}

// A group validates the kinds of an API group; it reports whether it knows the object's.
type group func(e *errs, subresource string, obj, old runtime.Object) bool

func groups() []group {
	return []group{
		validateCore, validateApps, validateBatch, validateAutoscaling, validateNetworking, validateRBAC, validatePolicy, validateStorage,
		validateDiscovery, validateEvents, validateScheduling, validateAdmission, validateCertificates, validateFlowcontrol,
		validateResource, validateAuthorization, validateAPIRegistration,
	}
}

// kindOf returns old as the type of the object, nil if there is none.
func kindOf[T any](old runtime.Object) *T {
	t, _ := any(old).(*T)
	return t
}
