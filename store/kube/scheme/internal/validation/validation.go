// Package validation checks built-in objects as kube-apiserver's strategies do: same rules, texts, members and order. Objects
// must have their defaults (package defaults) and be prepared as the strategy prepares them: a status that a create wipes is
// empty, a Job has its selector.
//
// Metadata is not checked here, except by the rules that a kind has for its annotations; NameRule tells the rule for the name.
package validation

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns the errors of an object: that is to be created if old is nil, else that is to replace old. Objects of
// kinds that it does not know have none. The types of obj and old must be the same.
func Validate(obj, old runtime.Object) field.ErrorList { return ValidateSubresource("", obj, old) }

// ValidateSubresource is like Validate for an update by way of a subresource: status, and approval, finalize, resize,
// ephemeralcontainers where a kind has them.
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
	}
}

// kindOf returns old as the type of the object, nil if there is none.
func kindOf[T any](old runtime.Object) *T {
	t, _ := any(old).(*T)
	return t
}
