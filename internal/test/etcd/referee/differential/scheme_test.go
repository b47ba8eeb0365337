package differential

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const coordination = "coordination.k8s.io"

var (
	scheme         = newScheme()
	codecs         = serializer.NewCodecFactory(scheme)
	parameterCodec = runtime.NewParameterCodec(scheme)
)

// newScheme returns the types that the reference serves. The first version of each kind is also its internal version.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, coordinationv1.AddToScheme, coordinationv1beta1.AddToScheme, coordinationv1alpha2.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	s.AddKnownTypes(schema.GroupVersion{Version: runtime.APIVersionInternal}, &corev1.Endpoints{}, &corev1.EndpointsList{})
	s.AddKnownTypes(schema.GroupVersion{Group: coordination, Version: runtime.APIVersionInternal},
		&coordinationv1.Lease{}, &coordinationv1.LeaseList{}, &coordinationv1beta1.LeaseCandidate{}, &coordinationv1beta1.LeaseCandidateList{})
	for _, version := range []string{widgetVersion.Version, runtime.APIVersionInternal} {
		gv := schema.GroupVersion{Group: widgetGroup, Version: version}
		s.AddKnownTypeWithName(gv.WithKind("Widget"), &widget{})
		s.AddKnownTypeWithName(gv.WithKind("WidgetList"), &widgetList{})
	}
	metav1.AddToGroupVersion(s, widgetVersion)
	utilruntime.Must(s.SetVersionPriority(corev1.SchemeGroupVersion))
	utilruntime.Must(s.SetVersionPriority(coordinationv1.SchemeGroupVersion, coordinationv1beta1.SchemeGroupVersion, coordinationv1alpha2.SchemeGroupVersion))
	utilruntime.Must(s.SetVersionPriority(widgetVersion))
	s.AddTypeDefaultingFunc(&corev1.Endpoints{}, func(o any) { defaultEndpoints(o.(*corev1.Endpoints)) })
	addCandidateConversions(s)
	for _, o := range []runtime.Object{&corev1.Endpoints{}, &coordinationv1.Lease{}, &coordinationv1beta1.LeaseCandidate{}, &coordinationv1alpha2.LeaseCandidate{}, &widget{}} {
		s.AddValidationFunc(o, validateDeclaredMetadata)
	}
	return s
}

// validateDeclaredMetadata is the function that upstream generates for a type with tags on nothing but its metadata
// (pkg/apis/coordination/v1/zz_generated.validations.go, Validate_Lease).
func validateDeclaredMetadata(ctx context.Context, op operation.Operation, obj, old any) field.ErrorList {
	m, before := metadata(obj.(runtime.Object)), (*metav1.ObjectMeta)(nil)
	if o, ok := old.(runtime.Object); ok {
		if before = metadata(o); op.Type == operation.Update && equality.Semantic.DeepEqual(m, before) {
			return nil
		}
	}
	return metavalidation.Validate_ObjectMeta(ctx, op, field.NewPath("metadata"), m, before)
}

func defaultEndpoints(e *corev1.Endpoints) {
	for i := range e.Subsets {
		for j := range e.Subsets[i].Ports {
			if p := &e.Subsets[i].Ports[j]; p.Protocol == "" {
				p.Protocol = corev1.ProtocolTCP
			}
		}
	}
}

// addCandidateConversions adds conversions between the two versions of LeaseCandidate, which have the same fields.
func addCandidateConversions(s *runtime.Scheme) {
	type (
		beta  = coordinationv1beta1.LeaseCandidate
		alpha = coordinationv1alpha2.LeaseCandidate
	)
	utilruntime.Must(s.AddConversionFunc((*beta)(nil), (*alpha)(nil), func(a, b any, _ conversion.Scope) error {
		in, out := a.(*beta), b.(*alpha)
		out.ObjectMeta, out.Spec = in.ObjectMeta, coordinationv1alpha2.LeaseCandidateSpec(in.Spec)
		return nil
	}))
	utilruntime.Must(s.AddConversionFunc((*alpha)(nil), (*beta)(nil), func(a, b any, _ conversion.Scope) error {
		in, out := a.(*alpha), b.(*beta)
		out.ObjectMeta, out.Spec = in.ObjectMeta, coordinationv1beta1.LeaseCandidateSpec(in.Spec)
		return nil
	}))
}
