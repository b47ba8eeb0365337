package addresses

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/store"
)

const (
	// rangeName is the name of the ServiceCIDR with the ranges of the server.
	rangeName = "kubernetes"
	// rangeManager is the field manager that says that it is ready.
	rangeManager = "kubernetes-service-cidr-controller"
	// rangeInterval is how often a server looks whether it exists (upstream: pkg/controlplane/controller/defaultservicecidr).
	rangeInterval = 10 * time.Second
)

// Make makes the ServiceCIDR of the server unless there is one. One with a single range gets the second one that the server has.
func (al *Allocator) Make(ctx context.Context) error {
	al.collections()
	if al.cidrs == nil {
		return errors.New("addresses: ServiceCIDRs are not served")
	}
	in, err := kube.In[networkingv1.ServiceCIDR](al.cidrs.Kind(), al.api.Store())
	if err != nil {
		return err
	}
	var ranges []string
	for _, r := range al.opts.Ranges {
		ranges = append(ranges, r.Masked().String())
	}
	have, err := in.Get(ctx, "", rangeName)
	switch {
	case errors.Is(err, store.ErrNotFound):
		if have, err = in.Create(ctx, &networkingv1.ServiceCIDR{
			ObjectMeta: metav1.ObjectMeta{Name: rangeName}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: ranges},
		}, store.CreateOptions{FieldManager: serverManager}); errors.Is(err, store.ErrAlreadyExists) {
			return nil
		}
	case err == nil && len(ranges) == 2 && slices.Equal(have.Spec.CIDRs, ranges[:1]):
		have.Spec.CIDRs = ranges
		have, err = in.Update(ctx, have, store.UpdateOptions{FieldManager: serverManager})
	}
	if err != nil || have.DeletionTimestamp != nil || !slices.Equal(have.Spec.CIDRs, ranges) || isDecided(have) {
		return err
	}
	_, err = in.Status().Apply(ctx, &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: rangeName},
		Status: networkingv1.ServiceCIDRStatus{Conditions: []metav1.Condition{{
			Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionTrue, Message: "Kubernetes default Service CIDR is ready",
			LastTransitionTime: metav1.NewTime(al.api.Store().Now()),
		}}},
	}, store.ApplyOptions{FieldManager: rangeManager, Force: true})
	return err
}

// isDecided reports whether somebody has said whether a range is ready.
func isDecided(cidr *networkingv1.ServiceCIDR) bool {
	return slices.ContainsFunc(cidr.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == networkingv1.ServiceCIDRConditionReady && c.Status != metav1.ConditionUnknown
	})
}

// First returns the first address that services of a range may have, which the service kubernetes has.
func First(r netip.Prefix) netip.Addr {
	first, _ := bounds(r)
	return first
}
