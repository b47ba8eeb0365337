package admission

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

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
	gvk := kindOf(a.Kind, a.Version)
	if a.Operation == writes.Connect { // upstream's object is the options
		options, of, err := connection(a)
		if err != nil {
			return nil, err
		}
		gvk, objects[0] = of, func() (runtime.Object, error) { return options, nil }
	}
	from := store.UserOf(ctx)
	return &attributes{
		Attributes: admission.NewAttributesRecord(nil, nil, gvk, a.Namespace, a.Name,
			resourceOf(a.Resource, a.ResourceVersion), a.Subresource, admission.Operation(a.Operation), optionsOf(a), a.DryRun,
			&user.DefaultInfo{Name: from.Name, UID: from.UID, Groups: from.Groups, Extra: from.Extra}),
		of:     a,
		object: objects[0],
		old:    objects[1],
	}, nil
}

// connection returns the options of a CONNECT and their kind. Options of another library have none, so plugins cannot decide about them.
func connection(a *writes.Attributes) (runtime.Object, schema.GroupVersionKind, error) {
	options, ok := a.Options.(runtime.Object)
	if !ok {
		return nil, schema.GroupVersionKind{}, fmt.Errorf("admission: the options of %s/%s are a %T, want an object of k8s.io/api",
			a.Resource.GroupResource(), a.Subresource, a.Options)
	}
	kinds, _, err := clientscheme.Scheme.ObjectKinds(options)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	options.GetObjectKind().SetGroupVersionKind(kinds[0])
	return options, kinds[0], nil
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
	if !a.changed || a.of.Operation == writes.Connect { // whose options were changed in place
		return nil
	}
	object, err := a.wellFormed()
	if err != nil {
		return err
	}
	o, err := stored(ctx, a.of.Kind, a.of.Version, object)
	if err == nil {
		a.of.Object, a.changed = o, false
	}
	return err
}

// wellFormed returns the object that plugins have changed. The write takes what is malformed in the metadata of a custom resource.
func (a *attributes) wellFormed() (runtime.Object, error) {
	u, ok := a.GetObject().(*unstructured.Unstructured)
	if !ok || a.of.Kind.Info().Native {
		return a.GetObject(), nil
	}
	fixed, bad, err := wellFormed(u)
	switch {
	case err != nil:
		return nil, err
	case bad != nil && bad.Metadata != nil:
		a.of.Malformed = bad
	case bad != nil && a.of.Operation == writes.Create: // an update is refused without a resourceVersion
		return nil, apierrors.NewInternalError(errors.New("system metadata was not initialized"))
	}
	return fixed, nil
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
	if a.Operation == writes.Connect {
		return nil
	}
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
