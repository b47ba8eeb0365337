package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	podresources "k8s.io/component-helpers/resource"

	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

// isLimited reports whether LimitRanges apply to a write: new Pods, resizes, and claims, unless they are being deleted.
func isLimited(a *writes.Attributes) bool {
	if a.Old != nil && a.Old.GetObjectMeta().DeletionTimestamp != nil {
		return false
	}
	if a.Subresource != "" {
		return a.Subresource == "resize" && a.Operation == writes.Update
	}
	return a.Operation == writes.Create || kind.ValueOf[corev1.PersistentVolumeClaim](a.Object) != nil
}

// applyLimits is the plugin LimitRanger: containers get the resources that they leave out.
func (r *reader) applyLimits(_ context.Context, a *writes.Attributes) error {
	pod := kind.ValueOf[corev1.Pod](a.Object)
	if pod == nil || !isLimited(a) {
		return nil
	}
	for limits := range r.limitRanges.All(a.Namespace) {
		defaultResources(pod, limits)
	}
	return nil
}

// defaultResources gives the containers of a Pod the defaults of a LimitRange, and says so in an annotation.
func defaultResources(pod *corev1.Pod, limits *corev1.LimitRange) {
	request, limit := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range limits.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			maps.Copy(request, item.DefaultRequest)
			maps.Copy(limit, item.Default)
		}
	}
	var set []string
	fill := func(c *corev1.Container, sort string) {
		for _, part := range []struct {
			name     string
			to       *corev1.ResourceList
			defaults corev1.ResourceList
		}{{"request", &c.Resources.Requests, request}, {"limit", &c.Resources.Limits, limit}} {
			if *part.to == nil {
				*part.to = corev1.ResourceList{}
			}
			var names []string
			for _, name := range slices.Sorted(maps.Keys(part.defaults)) {
				if _, has := (*part.to)[name]; !has {
					(*part.to)[name] = part.defaults[name].DeepCopy()
					names = append(names, string(name))
				}
			}
			if names != nil {
				set = append(set, fmt.Sprintf("%s %s for %s %s", strings.Join(names, ", "), part.name, sort, c.Name))
			}
		}
	}
	for i := range pod.Spec.Containers {
		fill(&pod.Spec.Containers[i], "container")
	}
	for i := range pod.Spec.InitContainers {
		fill(&pod.Spec.InitContainers[i], "init container")
	}
	if set != nil {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["kubernetes.io/limit-ranger"] = "LimitRanger plugin set: " + strings.Join(set, "; ")
	}
}

// checkLimits refuses what is outside of a LimitRange.
func (r *reader) checkLimits(_ context.Context, a *writes.Attributes) error {
	if !isLimited(a) {
		return nil
	}
	for limits := range r.limitRanges.All(a.Namespace) {
		var errs []error
		for i := range limits.Spec.Limits {
			errs = append(errs, outside(&limits.Spec.Limits[i], a)...)
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return refuse(a, err)
		}
	}
	return nil
}

// outside returns how an object is outside of one item of a LimitRange.
func outside(item *corev1.LimitRangeItem, a *writes.Attributes) (errs []error) {
	if claim := kind.ValueOf[corev1.PersistentVolumeClaim](a.Object); claim != nil && item.Type == corev1.LimitTypePersistentVolumeClaim {
		b := bounds{item: item, request: claim.Spec.Resources.Requests}
		return append(b.each(item.Min, b.checkMin), b.each(item.Max, b.checkMax)...)
	}
	pod := kind.ValueOf[corev1.Pod](a.Object)
	if pod == nil {
		return nil
	}
	switch item.Type {
	case corev1.LimitTypeContainer:
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			b := bounds{item, c.Resources.Requests, c.Resources.Limits}
			errs = append(errs, b.check()...)
		}
	case corev1.LimitTypePod:
		// The limits of a Pod on its way into the server: its status does not count.
		opts := podresources.PodResourcesOptions{ExcludeOverhead: true}
		b := bounds{item, podresources.PodRequests(pod, opts), podresources.PodLimits(pod, opts)}
		errs = b.check()
	}
	return errs
}

// bounds compares a request and a limit with an item of a LimitRange.
type bounds struct {
	item           *corev1.LimitRangeItem
	request, limit corev1.ResourceList
}

// check returns how the request and the limit are out of bounds.
func (b bounds) check() []error {
	return slices.Concat(b.each(b.item.Min, b.checkMin), b.each(b.item.Max, b.checkMax), b.each(b.item.MaxLimitRequestRatio, b.checkRatio))
}

// each calls a check for each resource, in the order of the names. A real server has the order of a map.
func (b bounds) each(enforced corev1.ResourceList, check func(name corev1.ResourceName, enforced resource.Quantity) error) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(enforced)) {
		if err := check(name, enforced[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// amounts returns quantities as numbers of one unit: thousandths, unless one of them has too many.
func amounts(quantities ...resource.Quantity) []int64 {
	large := slices.ContainsFunc(quantities, func(q resource.Quantity) bool { return q.Value() > resource.MaxMilliValue })
	out := make([]int64, len(quantities))
	for i := range quantities {
		if large {
			out[i] = quantities[i].Value()
		} else {
			out[i] = quantities[i].MilliValue()
		}
	}
	return out
}

func (b bounds) checkMin(name corev1.ResourceName, enforced resource.Quantity) error {
	request, asked := b.request[name]
	limit, limited := b.limit[name]
	n := amounts(request, limit, enforced)
	why := ""
	switch {
	case !asked:
		why = ".  No request is specified"
	case n[0] < n[2]:
		why = ", but request is " + request.String()
	case limited && n[1] < n[2]:
		why = ", but limit is " + limit.String()
	default:
		return nil
	}
	return fmt.Errorf("minimum %s usage per %s is %s%s", name, b.item.Type, enforced.String(), why)
}

func (b bounds) checkMax(name corev1.ResourceName, enforced resource.Quantity) error {
	request, asked := b.request[name]
	limit, limited := b.limit[name]
	n := amounts(request, limit, enforced)
	why := ""
	switch {
	case !limited && b.item.Type != corev1.LimitTypePersistentVolumeClaim: // claims have no limits
		why = ".  No limit is specified"
	case !limited && !asked:
		why = ".  No request is specified"
	case limited && n[1] > n[2]:
		why = ", but limit is " + limit.String()
	case asked && n[0] > n[2]:
		why = ", but request is " + request.String()
	default:
		return nil
	}
	return fmt.Errorf("maximum %s usage per %s is %s%s", name, b.item.Type, enforced.String(), why)
}

func (b bounds) checkRatio(name corev1.ResourceName, enforced resource.Quantity) error {
	n := amounts(b.request[name], b.limit[name], enforced)
	why := ""
	switch {
	case n[0] == 0:
		why = ", but no request is specified or request is 0"
	case n[1] == 0:
		why = ", but no limit is specified or limit is 0"
	default:
		shown := float64(n[1]) / float64(n[0])
		ratio, most := shown, float64(enforced.Value())
		if enforced.Value() <= resource.MaxMilliValue {
			ratio, most = ratio*1000, float64(enforced.MilliValue())
		}
		if ratio <= most {
			return nil
		}
		why = fmt.Sprintf(", but provided ratio is %f", shown)
	}
	return fmt.Errorf("%s max limit to request ratio per %s is %s%s", name, b.item.Type, enforced.String(), why)
}
