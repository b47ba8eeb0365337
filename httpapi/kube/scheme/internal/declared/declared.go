// Package declared has the rules that comments in the source of k8s.io/api declare by +k8s: tags. The packages below it hold them in the Go
// of upstream's own generator; gen calls it.
package declared

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/admissionregistrationv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/appsv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/autoscalingv2"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/batchv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/certificatesv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/corev1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/discoveryv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/flowcontrolv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/networkingv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/nodev1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/policyv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/rbacv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/resourcev1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/storagemigrationv1"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared/storagev1"
)

//go:generate go run ./gen

// Rules are the declared rules of all kinds.
type Rules struct{ scheme *runtime.Scheme }

// New returns the rules.
func New() *Rules {
	r := &Rules{runtime.NewScheme()}
	for _, register := range []func(*runtime.Scheme) error{
		admissionregistrationv1.RegisterValidations, appsv1.RegisterValidations, autoscalingv2.RegisterValidations, batchv1.RegisterValidations,
		certificatesv1.RegisterValidations, corev1.RegisterValidations, discoveryv1.RegisterValidations, flowcontrolv1.RegisterValidations,
		networkingv1.RegisterValidations, nodev1.RegisterValidations, policyv1.RegisterValidations, rbacv1.RegisterValidations,
		resourcev1.RegisterValidations, storagemigrationv1.RegisterValidations, storagev1.RegisterValidations,
	} {
		_ = register(r.scheme) // the generator writes functions that return nil
	}
	return r
}

// Errors returns the errors of an object that is to be created if old is nil, else that is to replace old, by way of a subresource. Options
// are the ones that the tags ask for.
func (r *Rules) Errors(subresource string, obj, old runtime.Object, options map[string]bool) field.ErrorList {
	var by []string
	if subresource != "" {
		by = []string{subresource}
	}
	if old == nil {
		return r.scheme.Validate(context.Background(), options, obj, by...)
	}
	return r.scheme.ValidateUpdate(context.Background(), options, obj, old, by...)
}
