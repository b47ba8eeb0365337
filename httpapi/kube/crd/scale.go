package crd

import (
	"fmt"
	"math"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// scaleBody is the body of the subresource scale (API reference, "Scale v1 autoscaling").
type scaleBody struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            scaleSpec   `json:"spec" protobuf:"2"`
	Status          scaleStatus `json:"status" protobuf:"3"`
}

type scaleSpec struct {
	Replicas int32 `json:"replicas,omitempty" protobuf:"1"`
}

type scaleStatus struct {
	Replicas int32  `json:"replicas" protobuf:"1"`
	Selector string `json:"selector,omitempty" protobuf:"2"`
}

// scaleKind is made once per process.
var scaleKind = sync.OnceValue(func() kind.Kind {
	k, err := store.Compile(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "autoscaling", Kind: "Scale"},
		Native:   &kind.Native[meta.Object]{},
		Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{Unconditional: true}},
		New:      func() meta.Object { return new(scaleBody) },
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
		Table:    kind.Table[meta.Object]{Columns: scaleColumns()},
	})
	if err != nil {
		panic(err) // cannot be: the descriptor is constant
	}
	return k
})

// scaleColumns are what kubectl get --subresource=scale prints (upstream: apiextensions-apiserver, getScaleColumnsForVersion).
func scaleColumns() []kind.Column[meta.Object] {
	column := func(name, of, format, doc string, cell func(*scaleBody, time.Time) any) kind.Column[meta.Object] {
		return kind.Column[meta.Object]{
			Name: name, Type: of, Format: format, Description: doc,
			Cell: func(o meta.Object, now time.Time) any { return cell(o.(*scaleBody), now) },
		}
	}
	m := metav1.ObjectMeta{}.SwaggerDoc()
	return []kind.Column[meta.Object]{
		column("Name", "string", "name", m["name"], func(s *scaleBody, _ time.Time) any { return s.Name }),
		column("Desired", "integer", "", "Number of desired replicas", func(s *scaleBody, _ time.Time) any { return s.Spec.Replicas }),
		column("Available", "integer", "", "Number of actual replicas", func(s *scaleBody, _ time.Time) any { return s.Status.Replicas }),
		column("Age", "date", "", m["creationTimestamp"], func(s *scaleBody, now time.Time) any {
			return duration.HumanDuration(now.Sub(s.CreationTimestamp.Time))
		}),
	}
}

// scaleOf returns the subresource scale of a version (upstream: registry/customresource, etcd.go).
func scaleOf(of *apiextensionsv1.CustomResourceSubresourceScale) kind.Subresource[meta.Object] {
	replicas := fieldsOf(of.SpecReplicasPath)
	return kind.Subresource[meta.Object]{
		Name: "scale", Body: scaleKind(), Verbs: []string{"get", "patch", "update"},
		Read: func(parent meta.Object) (meta.Object, error) {
			s, _, err := readScale(parent.(*store.Unstructured), of)
			return s, err
		},
		Write: func(parent, body meta.Object) error {
			if body.(*scaleBody).Spec.Replicas == noReplicas {
				return meta.NewBadRequest("the spec replicas field %q cannot be empty", of.SpecReplicasPath)
			}
			u := parent.(*store.Unstructured)
			if u.Content == nil {
				u.Content = map[string]any{}
			}
			return unstructured.SetNestedField(u.Content, int64(body.(*scaleBody).Spec.Replicas), replicas...)
		},
		Native: &kind.NativeSubresource[meta.Object]{Member: replicas,
			Shows: func(parent meta.Object) error {
				_, found, err := readScale(parent.(*store.Unstructured), of)
				if err == nil && !found {
					err = meta.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", of.SpecReplicasPath))
				}
				return err
			},
			Start: func(parent meta.Object) (meta.Object, error) {
				s, found, err := readScale(parent.(*store.Unstructured), of)
				if err == nil && !found {
					s.Spec.Replicas = noReplicas
				}
				return s, err
			},
		},
	}
}

// noReplicas are the replicas that an update begins with if the object has none.
const noReplicas = math.MinInt32

// readScale returns the scale of an object, and reports whether the object has replicas.
func readScale(u *store.Unstructured, of *apiextensionsv1.CustomResourceSubresourceScale) (s *scaleBody, found bool, err error) {
	spec, found, err := unstructured.NestedInt64(u.Content, fieldsOf(of.SpecReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	status, _, err := unstructured.NestedInt64(u.Content, fieldsOf(of.StatusReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	s = &scaleBody{
		ObjectMeta: meta.ObjectMeta{
			Name: u.Name, Namespace: u.Namespace, UID: u.UID, ResourceVersion: u.ResourceVersion, CreationTimestamp: u.CreationTimestamp,
		},
		Spec: scaleSpec{int32(spec)}, Status: scaleStatus{Replicas: int32(status)},
	}
	if p := of.LabelSelectorPath; p != nil && *p != "" {
		s.Status.Selector, _, err = unstructured.NestedString(u.Content, fieldsOf(*p)...)
	}
	return s, found, err
}

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
