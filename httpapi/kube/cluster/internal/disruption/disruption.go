// Package disruption makes evictions obey PodDisruptionBudgets.
package disruption

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/ask"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Extend changes the options of an API, from one of its httpapi.Options.Parts, so that its evictions obey the budgets in its store.
func Extend(a *httpapi.API, opts *httpapi.Options) {
	e := &evictor{api: a, st: a.Store()}
	typed.With(opts, func(ctx context.Context) context.Context { return ask.With[ask.Evictor](ctx, e) })
}

// evictor decides about the evictions of one API (upstream: registry/core/pod/storage, EvictionREST).
type evictor struct {
	api *httpapi.API
	st  *store.Store
}

var policyKind = meta.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudgets"}

// Evict implements ask.Evictor.
func (e *evictor) Evict(ctx context.Context, pod *corev1.Pod, dryRun bool) (exact bool, err error) {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed, pod.DeletionTimestamp != nil:
		return false, nil
	case pod.Status.Phase == corev1.PodPending:
		return true, nil
	}
	r := typed.ObjectsOf(e.api, policyKind)
	if r == nil {
		return false, nil
	}
	found := matching(r, pod)
	if len(found) == 0 {
		return false, nil
	}
	if len(found) > 1 {
		return false, meta.NewStatusError(http.StatusInternalServerError, "", nil,
			"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	}
	b := found[0]
	if !ready(pod) {
		policy := b.Spec.UnhealthyPodEvictionPolicy
		if policy != nil && *policy == policyv1.AlwaysAllow || b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0 {
			return true, nil
		}
	}
	return false, e.decrement(ctx, r, b.Name, pod, dryRun)
}

// matching returns the budgets whose selectors match a pod.
func matching(r *store.Objects, pod *corev1.Pod) (out []*policyv1.PodDisruptionBudget) {
	for o := range r.All(pod.Namespace) {
		b := budgetOf(o)
		if b == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, b)
		}
	}
	return out
}

// budgetOf returns an object as a PodDisruptionBudget, or nil if it is none.
func budgetOf(o meta.Object) *policyv1.PodDisruptionBudget {
	return kind.ValueOf[policyv1.PodDisruptionBudget](o)
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// decrement takes one disruption from the status of a budget, or returns why there is none.
func (e *evictor) decrement(ctx context.Context, r *store.Objects, name string, pod *corev1.Pod, dryRun bool) error {
	// The write is the server's own, not the user's.
	ctx = store.WithUser(ctx, store.UserOf(context.Background()))
	return r.Modify(ctx, pod.Namespace, name, "status", func(o meta.Object) error {
		b := budgetOf(o)
		if b == nil {
			return nil
		}
		if err := e.check(b); err != nil {
			return err
		}
		b.Status.DisruptionsAllowed--
		if b.Status.DisruptionsAllowed == 0 {
			e.markInsufficient(b)
		}
		if b.Status.DisruptedPods == nil {
			b.Status.DisruptedPods = map[string]metav1.Time{}
		}
		b.Status.DisruptedPods[pod.Name] = metav1.NewTime(e.st.Now())
		return nil
	}, store.UpdateOptions{DryRun: dryRun, FieldManager: "kube-apiserver"})
}

// maxDisrupted is how many evictions may wait for the controller of budgets.
const maxDisrupted = 2000

// check returns why a budget allows no disruption.
func (e *evictor) check(b *policyv1.PodDisruptionBudget) error {
	s := &b.Status
	condition := apimeta.FindStatusCondition(s.Conditions, policyv1.DisruptionAllowedCondition)
	explained := condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != ""
	switch {
	case s.ObservedGeneration < b.Generation:
		return tooMany(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Name))
	case s.DisruptionsAllowed < 0:
		return forbidden(b.Name, "pdb disruptions allowed is negative")
	case len(s.DisruptedPods) > maxDisrupted:
		return forbidden(b.Name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case s.DisruptionsAllowed > 0:
		return nil
	case explained && condition.Reason == policyv1.SyncFailedReason:
		return tooMany(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", b.Name, condition.Message))
	case s.CurrentHealthy <= s.DesiredHealthy:
		return tooMany(0, fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, s.DesiredHealthy, s.CurrentHealthy))
	case explained:
		return tooMany(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, condition.Reason, condition.Message))
	}
	return tooMany(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name))
}

// markInsufficient sets the condition of a budget that allows no more disruptions (upstream: component-helpers,
// apps/poddisruptionbudget, with the time of the store).
func (e *evictor) markInsufficient(b *policyv1.PodDisruptionBudget) {
	next := metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
		ObservedGeneration: b.Status.ObservedGeneration, LastTransitionTime: metav1.NewTime(e.st.Now()),
	}
	apimeta.SetStatusCondition(&b.Status.Conditions, next)
}

func tooMany(retryAfter int32, cause string) error {
	return meta.NewStatusError(http.StatusTooManyRequests, meta.ReasonTooManyRequests, &meta.StatusDetails{
		RetryAfterSeconds: retryAfter, Causes: []meta.StatusCause{{Type: string(policyv1.DisruptionBudgetCause), Message: cause}},
	}, "Cannot evict pod as it would violate the pod's disruption budget.")
}

// forbidden names the resource as upstream does, in the singular.
func forbidden(name, why string) error {
	return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden,
		&meta.StatusDetails{Name: name, Group: policyv1.GroupName, Kind: "poddisruptionbudget"},
		fmt.Sprintf("poddisruptionbudget.policy %q is forbidden: %s", name, why))
}
