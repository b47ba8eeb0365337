package admission

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecoord/kubecoord/store"
	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// attributes are the attributes of a write in the form of the library. The objects have the API version of the request.
type attributes struct {
	admission.Attributes // without objects
	of                   *writes.Attributes
	object, old          func() (runtime.Object, error) // made when a plugin asks for them
	changed              bool                           // the object; see interfaces.Convert
}

func newAttributes(ctx context.Context, a *writes.Attributes) (*attributes, error) {
	var objects [2]func() (runtime.Object, error)
	for i, o := range []meta.Object{a.Object, a.Old} {
		objects[i] = sync.OnceValues(func() (runtime.Object, error) { return wire(ctx, a.Kind, a.Version, o) })
		if info := a.Kind.Info(); info.Trees && len(info.Versions) > 1 { // the conversion of a custom resource may fail
			if _, err := objects[i](); err != nil {
				return nil, err
			}
		}
	}
	from := store.UserOf(ctx)
	return &attributes{
		Attributes: admission.NewAttributesRecord(nil, nil, kindOf(a.Kind, a.Version), a.Namespace, a.Name,
			resourceOf(a.Resource, a.ResourceVersion), a.Subresource, admission.Operation(a.Operation), optionsOf(a), a.DryRun,
			&user.DefaultInfo{Name: from.Name, UID: from.UID, Groups: from.Groups, Extra: from.Extra}),
		of:     a,
		object: objects[0],
		old:    objects[1],
	}, nil
}

// read reads the object again, which plugins outside of the library have changed.
func (a *attributes) read(ctx context.Context) {
	a.object = sync.OnceValues(func() (runtime.Object, error) { return wire(ctx, a.of.Kind, a.of.Version, a.of.Object) })
}

// GetObject implements admission.Attributes.
func (a *attributes) GetObject() runtime.Object { return a.made(a.object) }

// GetOldObject implements admission.Attributes.
func (a *attributes) GetOldObject() runtime.Object { return a.made(a.old) }

func (a *attributes) made(object func() (runtime.Object, error)) runtime.Object {
	o, err := object()
	if err != nil {
		// The Go type of the library has all members of the stored form, so this is a mistake of this module.
		panic(fmt.Sprintf("admission: %s %s/%s: %v", a.of.Kind.GroupResource(), a.of.Namespace, a.of.Name, err))
	}
	return o
}

// interfaces returns the conversions between the versions of the object's kind.
func (a *attributes) interfaces() *interfaces {
	return &interfaces{write: a, kind: a.of.Kind}
}

// apply puts an object that plugins have changed into the write.
func (a *attributes) apply(ctx context.Context) error {
	if !a.changed {
		return nil
	}
	o, err := stored(ctx, a.of.Kind, a.of.Version, a.GetObject())
	if err == nil {
		a.of.Object, a.changed = o, false
	}
	return err
}

func kindOf(k kind.Kind, version int) schema.GroupVersionKind {
	named := k.TypeMeta(version)
	return schema.FromAPIVersionAndKind(named.APIVersion, named.Kind)
}

func resourceOf(k kind.Kind, version int) schema.GroupVersionResource {
	info := k.Info()
	return schema.GroupVersionResource{Group: info.Group, Version: info.Versions[version].Name, Resource: info.Plural}
}

// optionsOf returns the options of a write. The options of a patch become the CreateOptions or UpdateOptions of what it does
// (upstream: endpoints/handlers, patchToUpdateOptions and updateToCreateOptions).
func optionsOf(a *writes.Attributes) runtime.Object {
	if deletion, ok := a.Options.(meta.DeleteOptions); ok {
		return deleteOptions(deletion)
	}
	o, _ := a.Options.(meta.WriteOptions)
	if a.Operation == writes.Create {
		return &metav1.CreateOptions{
			TypeMeta: optionsKind("CreateOptions"), DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation,
		}
	}
	return &metav1.UpdateOptions{
		TypeMeta: optionsKind("UpdateOptions"), DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation,
	}
}

func deleteOptions(o meta.DeleteOptions) *metav1.DeleteOptions {
	out := &metav1.DeleteOptions{
		TypeMeta: optionsKind("DeleteOptions"), GracePeriodSeconds: o.GracePeriodSeconds, OrphanDependents: o.OrphanDependents,
		PropagationPolicy: (*metav1.DeletionPropagation)(o.PropagationPolicy), DryRun: o.DryRun,
		IgnoreStoreReadErrorWithClusterBreakingPotential: o.IgnoreStoreReadErrorWithClusterBreakingPotential,
	}
	if p := o.Preconditions; p != nil {
		out.Preconditions = &metav1.Preconditions{UID: (*types.UID)(p.UID), ResourceVersion: p.ResourceVersion}
	}
	return out
}

// statusOf returns an error of the library as one that the API answers with its Status (upstream: responsewriters,
// ErrorToAPIStatus). Other errors stay.
func statusOf(err error) error {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return err
	}
	s := status.Status()
	out := meta.Status{
		TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"},
		ListMeta: meta.ListMeta{ResourceVersion: s.ResourceVersion, Continue: s.Continue, RemainingItemCount: s.RemainingItemCount},
		Status:   s.Status, Message: s.Message, Reason: meta.Reason(s.Reason), Code: s.Code,
	}
	if d := s.Details; d != nil {
		out.Details = &meta.StatusDetails{Name: d.Name, Group: d.Group, Kind: d.Kind, UID: meta.UID(d.UID), RetryAfterSeconds: d.RetryAfterSeconds}
		for _, c := range d.Causes {
			out.Details.Causes = append(out.Details.Causes, meta.StatusCause{Type: string(c.Type), Message: c.Message, Field: c.Field})
		}
	}
	return &meta.StatusError{Status: out}
}
