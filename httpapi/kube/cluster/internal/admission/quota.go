package admission

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	library "k8s.io/apiserver/pkg/quota/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/quota"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// quotas are the plugin ResourceQuota. The library decides and counts; its queue of writes, which has goroutines and the wall clock, is not
// used: a charge is a write of the status, which begins again if another one comes first.
type quotas struct {
	*admission.Handler
	quotas     *typed.Collection[*corev1.ResourceQuota]
	evaluators *quota.Evaluators
}

// resourceQuotas returns the plugin ResourceQuota.
func (c *Chain) resourceQuotas() plugin {
	q := &quotas{
		Handler:    admission.NewHandler(admission.Create, admission.Update),
		quotas:     collection[*corev1.ResourceQuota](c.objects, corev1.SchemeGroupVersion.WithResource("resourcequotas")),
		evaluators: quota.New(quota.Of(c.objects.api)),
	}
	return plugin{func() bool { return !isEmpty(q.quotas) }, func() admission.Interface { return q }}
}

// Validate implements admission.ValidationInterface.
func (q *quotas) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	namespace, gr := a.GetNamespace(), a.GetResource().GroupResource()
	if namespace == "" || gr == namespaces.GroupResource() && a.GetOperation() == admission.Create {
		return nil
	}
	evaluator := q.evaluators.Of(gr)
	if evaluator == nil || !evaluator.Handles(a) {
		return nil
	}
	var all []corev1.ResourceQuota
	for _, have := range q.quotas.Read(nil).ByNamespace[namespace] {
		all = append(all, *have)
	}
	if all == nil {
		return nil
	}
	next, err := resourcequota.CheckRequest(slices.Clone(all), a, evaluator, nil)
	if err != nil || a.IsDryRun() {
		return err
	}
	for i := range next {
		if library.Equals(all[i].Status.Used, next[i].Status.Used) {
			continue
		}
		if err := q.charge(ctx, a, evaluator, all[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// charge adds what a write uses to the status of a quota, unless the quota does not allow it now. A quota that is gone allows all.
func (q *quotas) charge(ctx context.Context, a admission.Attributes, evaluator library.Evaluator, name string) error {
	var charged corev1.ResourceList
	err := q.modify(ctx, a.GetNamespace(), name, func(s *corev1.ResourceQuota) error {
		next, err := resourcequota.CheckRequest([]corev1.ResourceQuota{*s}, a, evaluator, nil)
		if err != nil {
			return err
		}
		charged = library.Subtract(next[0].Status.Used, s.Status.Used)
		s.Status.Used = next[0].Status.Used
		return nil
	})
	if err != nil {
		return err
	}
	a.(*attributes).of.OnFailure(func() {
		// The error of a quota that cannot be written now has no answer to be in: the controller of quotas counts again.
		_ = q.modify(context.WithoutCancel(ctx), a.GetNamespace(), name, func(s *corev1.ResourceQuota) error {
			s.Status.Used = library.Mask(library.SubtractWithNonNegativeResult(s.Status.Used, charged), library.ResourceNames(s.Status.Used))
			return nil
		})
	})
	return nil
}

// modify changes the status of a quota. The write is the server's own, not the user's.
func (q *quotas) modify(ctx context.Context, namespace, name string, change func(*corev1.ResourceQuota) error) error {
	in := q.quotas.Objects()
	ctx = store.WithUser(ctx, store.UserOf(context.Background()))
	err := in.Modify(ctx, namespace, name, "status", func(o meta.Object) error {
		return change(kind.ValueOf[corev1.ResourceQuota](o))
	}, store.UpdateOptions{FieldManager: "kube-apiserver"})
	if errors.Is(err, meta.ReasonNotFound) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
