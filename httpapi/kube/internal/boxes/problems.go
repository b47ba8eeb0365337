package boxes

import (
	upstream "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/store/field"
)

// Problems returns the errors of a validation of Kubernetes' libraries, with their texts, as a store answers them. It is nil without
// errors.
func Problems(list upstream.ErrorList) (errs field.Errors) {
	for _, e := range list {
		errs = append(errs, field.Reported(field.ErrorType(e.Type), field.Path(e.Field), e.ErrorBody()))
	}
	return errs
}
