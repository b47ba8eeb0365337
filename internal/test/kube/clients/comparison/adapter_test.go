package comparison

import (
	"context"
	"encoding/json"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	coordinationconfig "k8s.io/client-go/applyconfigurations/coordination/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adapter gives controller-runtime's client the interface of client-go's client
// for Leases. It passes on every option that both have.
type adapter struct {
	client.WithWatch
	namespace string
}

var _ coordinationclient.LeaseInterface = adapter{}

// Leases makes an adapter a coordinationclient.LeasesGetter.
func (a adapter) Leases(namespace string) coordinationclient.LeaseInterface {
	return adapter{a.WithWatch, namespace}
}

// named returns a Lease that only has a namespace and a name.
func (a adapter) named(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name}}
}

func (a adapter) own(l *coordinationv1.Lease) *coordinationv1.Lease {
	l = l.DeepCopy()
	l.Namespace = a.namespace
	return l
}

// Create creates a Lease.
func (a adapter) Create(ctx context.Context, l *coordinationv1.Lease, opts metav1.CreateOptions) (*coordinationv1.Lease, error) {
	l = a.own(l)
	return l, a.WithWatch.Create(ctx, l, &client.CreateOptions{
		DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation,
	})
}

// Update updates a Lease.
func (a adapter) Update(ctx context.Context, l *coordinationv1.Lease, opts metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	l = a.own(l)
	return l, a.WithWatch.Update(ctx, l, &client.UpdateOptions{
		DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation,
	})
}

// Delete deletes a Lease.
func (a adapter) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return a.WithWatch.Delete(ctx, a.named(name), deleteOptions(opts))
}

// DeleteCollection deletes the selected Leases.
func (a adapter) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	options, err := a.listOptions(listOpts)
	if err != nil {
		return err
	}
	return a.DeleteAllOf(ctx, a.named(""), &client.DeleteAllOfOptions{ListOptions: *options, DeleteOptions: *deleteOptions(opts)})
}

// Get reads a Lease.
func (a adapter) Get(ctx context.Context, name string, opts metav1.GetOptions) (*coordinationv1.Lease, error) {
	l := &coordinationv1.Lease{}
	return l, a.WithWatch.Get(ctx, client.ObjectKey{Namespace: a.namespace, Name: name}, l, &client.GetOptions{Raw: &opts})
}

// List lists Leases.
func (a adapter) List(ctx context.Context, opts metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	options, err := a.listOptions(opts)
	if err != nil {
		return nil, err
	}
	list := &coordinationv1.LeaseList{}
	return list, a.WithWatch.List(ctx, list, options)
}

// Watch watches Leases.
func (a adapter) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	options, err := a.listOptions(opts)
	if err != nil {
		return nil, err
	}
	return a.WithWatch.Watch(ctx, &coordinationv1.LeaseList{}, options)
}

// Patch patches a Lease.
func (a adapter) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*coordinationv1.Lease, error) {
	l := a.named(name)
	return l, a.WithWatch.Patch(ctx, l, client.RawPatch(pt, data), &client.PatchOptions{
		DryRun: opts.DryRun, Force: opts.Force, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation,
	})
}

// Apply applies a configuration.
func (a adapter) Apply(ctx context.Context, l *coordinationconfig.LeaseApplyConfiguration, opts metav1.ApplyOptions) (*coordinationv1.Lease, error) {
	if err := a.WithWatch.Apply(ctx, l, &client.ApplyOptions{DryRun: opts.DryRun, Force: &opts.Force, FieldManager: opts.FieldManager}); err != nil {
		return nil, err
	}
	data, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	out := &coordinationv1.Lease{}
	return out, json.Unmarshal(data, out)
}

func deleteOptions(opts metav1.DeleteOptions) *client.DeleteOptions {
	return &client.DeleteOptions{
		GracePeriodSeconds: opts.GracePeriodSeconds, Preconditions: opts.Preconditions,
		PropagationPolicy: opts.PropagationPolicy, DryRun: opts.DryRun,
	}
}

func (a adapter) listOptions(opts metav1.ListOptions) (*client.ListOptions, error) {
	out := &client.ListOptions{Namespace: a.namespace, Limit: opts.Limit, Continue: opts.Continue, Raw: &opts}
	var err error
	if opts.LabelSelector != "" {
		if out.LabelSelector, err = labels.Parse(opts.LabelSelector); err != nil {
			return nil, err
		}
	}
	if opts.FieldSelector != "" {
		out.FieldSelector, err = fields.ParseSelector(opts.FieldSelector)
	}
	return out, err
}
