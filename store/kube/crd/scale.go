package crd

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"
)

// checkScale validates the fields of the scale subresource (upstream: registry/customresource, validator.go). spec is false
// for a write of the status.
func (v *crVersion) checkScale(doc map[string]any, spec bool) (errs upstream.ErrorList) {
	if v.of.Subresources == nil || v.of.Subresources.Scale == nil {
		return nil
	}
	scale := v.of.Subresources.Scale
	if spec {
		errs = checkReplicas(doc, scale.SpecReplicasPath)
	}
	errs = append(errs, checkReplicas(doc, scale.StatusReplicasPath)...)
	if p := scale.LabelSelectorPath; p != nil {
		if selector, _, err := unstructured.NestedString(doc, fieldsOf(*p)...); err != nil {
			errs = append(errs, upstream.Invalid(upstream.NewPath(*p), selector, err.Error()))
		}
	}
	return errs
}

// checkReplicas validates a number of replicas.
func checkReplicas(doc map[string]any, path string) upstream.ErrorList {
	n, _, err := unstructured.NestedInt64(doc, fieldsOf(path)...)
	problem := ""
	switch {
	case err != nil:
		problem = err.Error()
	case n < 0:
		problem = "should be a non-negative integer"
	case n > math.MaxInt32:
		problem = fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)
	default:
		return nil
	}
	return upstream.ErrorList{upstream.Invalid(upstream.NewPath(path), n, problem)}
}
