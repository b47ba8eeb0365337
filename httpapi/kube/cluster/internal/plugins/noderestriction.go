package plugins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

// nodePrefix begins the name of the user of a kubelet.
const nodePrefix = "system:node:"

// restricted returns the check of the plugin NodeRestriction for one resource: f is asked about the writes of kubelets, with the name of
// the node.
func restricted(f func(ctx context.Context, node string, a *writes.Attributes) error) check {
	return func(ctx context.Context, a *writes.Attributes) error {
		u := store.UserOf(ctx)
		node, is := strings.CutPrefix(u.Name, nodePrefix)
		if !is || !slices.Contains(u.Groups, "system:nodes") {
			return nil
		}
		if node == "" {
			return refuse(a, fmt.Errorf("could not determine node from user %q", u.Name))
		}
		return f(ctx, node, a)
	}
}

// nodePods lets a node create and delete mirror Pods of its own, write the status of its Pods, and evict them.
func (r *reader) nodePods(_ context.Context, node string, a *writes.Attributes) error {
	own := func(mayNot string) error {
		pod := r.pods.Get(a.Namespace, a.Name)
		if pod == nil {
			return notFound("pod", a.Name)
		}
		if pod.Spec.NodeName != node {
			return refuse(a, fmt.Errorf(mayNot, node))
		}
		return nil
	}
	switch {
	case a.Subresource == "status" && a.Operation == writes.Update:
		return checkPodStatus(node, a)
	case a.Subresource == "status":
		return refuse(a, fmt.Errorf("unexpected operation %q", a.Operation))
	case a.Subresource == "eviction":
		return own("node %s can only evict pods with spec.nodeName set to itself")
	case a.Subresource != "":
		return refuse(a, fmt.Errorf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", a.Subresource))
	case a.Operation == writes.Create:
		return r.checkMirrorOf(node, a)
	case a.Operation == writes.Delete:
		return own("node %q can only delete pods with spec.nodeName set to itself")
	}
	return refuse(a, fmt.Errorf("unexpected operation %q, node %q can only create and delete mirror pods", a.Operation, node))
}

// notFound is the error of a lister, which names the kind in the singular.
func notFound(what, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: what}, name)
}

// checkMirrorOf checks a Pod that a node creates.
func (r *reader) checkMirrorOf(node string, a *writes.Attributes) error {
	pod := kind.ValueOf[corev1.Pod](a.Object)
	if pod == nil {
		return nil
	}
	switch {
	case !isMirror(pod):
		return refuse(a, fmt.Errorf("pod does not have %q annotation, node %q can only create mirror pods", corev1.MirrorPodAnnotationKey, node))
	case pod.Spec.NodeName != node:
		return refuse(a, fmt.Errorf("node %q can only create pods with spec.nodeName set to itself", node))
	case len(pod.OwnerReferences) > 1:
		return refuse(a, fmt.Errorf("node %q can only create pods with a single owner reference set to itself", node))
	case len(pod.OwnerReferences) == 0:
		return refuse(a, fmt.Errorf("node %q can only create pods with an owner reference set to itself", node))
	}
	owner := pod.OwnerReferences[0]
	switch {
	case owner.APIVersion != "v1" || owner.Kind != "Node" || owner.Name != node:
		return refuse(a, fmt.Errorf("node %q can only create pods with an owner reference set to itself", node))
	case owner.Controller == nil || !*owner.Controller:
		return refuse(a, fmt.Errorf("node %q can only create pods with a controller owner reference set to itself", node))
	case owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion:
		return refuse(a, fmt.Errorf("node %q must not set blockOwnerDeletion on an owner reference", node))
	}
	own := r.nodes.Get("", node)
	if own == nil {
		return notFound("node", node)
	}
	if owner.UID != own.UID {
		return refuse(a, fmt.Errorf("node %s UID mismatch: expected %s got %s", node, owner.UID, own.UID))
	}
	what, err := referenced(pod)
	if err != nil {
		return refuse(a, fmt.Errorf("error checking mirror pod for API references: %w", err))
	}
	if what != "" {
		return refuse(a, fmt.Errorf("node %q can not create pods that reference %s", node, what))
	}
	return nil
}

func checkPodStatus(node string, a *writes.Attributes) error {
	pod, old := kind.ValueOf[corev1.Pod](a.Object), kind.ValueOf[corev1.Pod](a.Old)
	switch {
	case old.Spec.NodeName != node:
		return refuse(a, fmt.Errorf("node %q can only update pod status for pods with spec.nodeName set to itself", node))
	case !maps.Equal(pod.Labels, old.Labels):
		return refuse(a, fmt.Errorf("node %q cannot update labels through pod status", node))
	case !apiequality.Semantic.DeepEqual(pod.Status.ResourceClaimStatuses, old.Status.ResourceClaimStatuses):
		return refuse(a, fmt.Errorf("node %q cannot update resource claim statues", node))
	case !apiequality.Semantic.DeepEqual(pod.Status.ExtendedResourceClaimStatus, old.Status.ExtendedResourceClaimStatus):
		return refuse(a, fmt.Errorf("node %q cannot update extended resource claim status", node))
	}
	return nil
}

// nodeClaims lets a node write parts of the status of claims.
func nodeClaims(_ context.Context, node string, a *writes.Attributes) error {
	switch {
	case a.Subresource != "status":
		return refuse(a, errors.New("may only update PVC status"))
	case a.Operation != writes.Update:
		return refuse(a, fmt.Errorf("unexpected operation %q", a.Operation))
	}
	claim, old := kind.ValueOf[corev1.PersistentVolumeClaim](a.Object).DeepCopy(), kind.ValueOf[corev1.PersistentVolumeClaim](a.Old).DeepCopy()
	for _, c := range []*corev1.PersistentVolumeClaim{claim, old} {
		c.ResourceVersion, c.ManagedFields = "", nil
		c.Status.Capacity, c.Status.Conditions, c.Status.AllocatedResourceStatuses, c.Status.AllocatedResources = nil, nil, nil, nil
	}
	if !apiequality.Semantic.DeepEqual(claim, old) {
		return refuse(a, fmt.Errorf("node %q is not allowed to update fields other than status.quantity and status.conditions: %v", node, diff.Diff(old, claim)))
	}
	return nil
}

// nodeNode lets a node write the Node of its name, but not its taints, owners, and most labels of Kubernetes.
func nodeNode(_ context.Context, node string, a *writes.Attributes) error {
	name := a.Name
	if name == "" && a.Object != nil {
		name = a.Object.GetObjectMeta().Name
	}
	if name != node {
		return refuse(a, fmt.Errorf("node %q is not allowed to modify node %q", node, name))
	}
	now, old := kind.ValueOf[corev1.Node](a.Object), (*corev1.Node)(nil)
	if a.Old != nil {
		old = kind.ValueOf[corev1.Node](a.Old)
	}
	switch a.Operation {
	case writes.Create:
		if now.Spec.ConfigSource != nil {
			return refuse(a, fmt.Errorf("node %q is not allowed to create pods with a non-nil configSource", node))
		}
		if labels := foreignLabels(now.Labels, nil); len(labels) > 0 {
			return refuse(a, fmt.Errorf("node %q is not allowed to set the following labels: %s", node, strings.Join(labels, ", ")))
		}
	case writes.Update:
		switch {
		case now.Spec.ConfigSource != nil && !apiequality.Semantic.DeepEqual(now.Spec.ConfigSource, old.Spec.ConfigSource):
			return refuse(a, fmt.Errorf("node %q is not allowed to update configSource to a new non-nil configSource", node))
		case !apiequality.Semantic.DeepEqual(now.Spec.Taints, old.Spec.Taints):
			return refuse(a, fmt.Errorf("node %q is not allowed to modify taints", node))
		case !apiequality.Semantic.DeepEqual(now.OwnerReferences, old.OwnerReferences):
			return refuse(a, fmt.Errorf("node %q is not allowed to modify ownerReferences", node))
		}
		if labels := foreignLabels(now.Labels, old.Labels); len(labels) > 0 {
			return refuse(a, fmt.Errorf("is not allowed to modify labels: %s", strings.Join(labels, ", ")))
		}
	}
	return nil
}

// foreignLabels returns the labels that differ and that a node may not set.
func foreignLabels(now, old map[string]string) (all []string) {
	for _, pair := range [][2]map[string]string{{now, old}, {old, now}} {
		for key, value := range pair[0] {
			if other, has := pair[1][key]; (!has || other != value) && isForeign(key) {
				all = append(all, key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// isForeign reports whether a node may not set a label (upstream: k8s.io/kubelet, pkg/apis, well_known_labels.go).
func isForeign(key string) bool {
	namespace, _, qualified := strings.Cut(key, "/")
	if !qualified {
		namespace = ""
	}
	in := func(domain string) bool { return namespace == domain || strings.HasSuffix(namespace, "."+domain) }
	switch {
	case in("node-restriction.kubernetes.io"):
		return true
	case !in("kubernetes.io") && !in("k8s.io"), in("kubelet.kubernetes.io"), in("node.kubernetes.io"):
		return false
	}
	return !slices.Contains([]string{
		corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone,
		corev1.LabelFailureDomainBetaRegion, corev1.LabelInstanceType, corev1.LabelInstanceTypeStable, corev1.LabelOSStable,
		corev1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
	}, key)
}

// nodeTokens lets a node get tokens that are bound to its Pods, for audiences of their volumes.
func (r *reader) nodeTokens(ctx context.Context, node string, a *writes.Attributes) error {
	if a.Operation != writes.Create || a.Subresource != "token" {
		return nil
	}
	token := kind.ValueOf[authenticationv1.TokenRequest](a.Object)
	if token == nil {
		return nil
	}
	ref := token.Spec.BoundObjectRef
	switch {
	case ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "":
		return refuse(a, errors.New("node requested token not bound to a pod"))
	case ref.UID == "":
		return refuse(a, errors.New("node requested token with a pod binding without a uid"))
	}
	pod := r.pods.Get(a.Namespace, ref.Name)
	switch {
	case pod == nil:
		return notFound("pod", ref.Name)
	case ref.UID != types.UID(pod.UID):
		return refuse(a, fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	case pod.Spec.NodeName != node:
		return refuse(a, errors.New("node requested token bound to a pod scheduled on a different node"))
	case len(token.Spec.Audiences) > 1:
		return refuse(a, errors.New("node may only request 0 or 1 audiences"))
	}
	audience := strings.Join(token.Spec.Audiences, "")
	found, err := r.needsAudience(pod, audience)
	switch {
	case err != nil:
		return refuse(a, fmt.Errorf("error validating audience %q: %w", audience, err))
	case found || r.mayRequest(ctx, audience, a):
		return nil
	}
	return refuse(a, fmt.Errorf("audience %q not found in pod spec volume, %s is not authorized to request tokens for this audience", audience, nodePrefix+node))
}

// mayRequest reports whether a node may get tokens of an account for an audience that no volume has.
func (r *reader) mayRequest(ctx context.Context, audience string, a *writes.Attributes) bool {
	if r.authorize == nil {
		return true
	}
	allowed, _ := r.authorize(httpapi.Attributes{
		User: store.UserOf(ctx), Verb: "request-serviceaccounts-token-audience", IsResource: true, Version: "v1", Resource: audience,
		Namespace: a.Namespace, Name: a.Name,
	})
	return allowed
}

// needsAudience reports whether a volume of a Pod has a token for an audience: by itself, or by its CSI driver. Volumes that upstream
// translates to a CSI driver have none here.
func (r *reader) needsAudience(pod *corev1.Pod, audience string) (bool, error) {
	var errs []error
	for _, v := range pod.Spec.Volumes {
		if v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == audience
		}) {
			return true, nil
		}
		name, err := r.driverOf(pod, &v)
		if err != nil || name == "" {
			errs = append(errs, err)
			continue
		}
		driver := r.drivers.Get("", name)
		if driver == nil {
			errs = append(errs, apierrors.NewNotFound(schema.GroupResource{Group: "storage.k8s.io", Resource: "csidriver"}, name))
			continue
		}
		for _, t := range driver.Spec.TokenRequests {
			if t.Audience == audience {
				return true, nil
			}
		}
	}
	return false, errors.Join(errs...)
}

// driverOf returns the CSI driver of a volume, or "".
func (r *reader) driverOf(pod *corev1.Pod, v *corev1.Volume) (string, error) {
	claim := ""
	switch {
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		claim = pod.Name + "-" + v.Name
	case v.PersistentVolumeClaim != nil:
		claim = v.PersistentVolumeClaim.ClaimName
	case v.CSI != nil:
		return v.CSI.Driver, nil
	default:
		return "", nil
	}
	c := r.claims.Get(pod.Namespace, claim)
	if c == nil {
		return "", notFound("persistentvolumeclaim", claim)
	}
	volume := r.volumes.Get("", c.Spec.VolumeName)
	if volume == nil {
		return "", notFound("persistentvolume", c.Spec.VolumeName)
	}
	if volume.Spec.CSI != nil {
		return volume.Spec.CSI.Driver, nil
	}
	return "", nil
}

// nodeLeases lets a node write the Lease of its name.
func nodeLeases(_ context.Context, node string, a *writes.Attributes) error {
	switch {
	case a.Namespace != corev1.NamespaceNodeLease:
		return refuse(a, fmt.Errorf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease))
	case nameOf(a) != node:
		return refuse(a, errors.New("can only access node lease with the same name as the requesting node"))
	}
	return nil
}

// nodeDrivers lets a node write the CSINode of its name.
func nodeDrivers(_ context.Context, node string, a *writes.Attributes) error {
	if nameOf(a) != node {
		return refuse(a, errors.New("can only access CSINode with the same name as the requesting node"))
	}
	return nil
}

// nameOf returns the name of the object of a write.
func nameOf(a *writes.Attributes) string {
	if a.Operation == writes.Create && a.Object != nil {
		return a.Object.GetObjectMeta().Name
	}
	return a.Name
}

// nodeSlices lets a node create and delete ResourceSlices of its own.
func nodeSlices(_ context.Context, node string, a *writes.Attributes) error {
	of, verb := a.Object, "create"
	switch a.Operation {
	case writes.Update:
		return nil
	case writes.Delete:
		if of, verb = a.Old, "delete"; of == nil {
			return nil
		}
	}
	if s := kind.ValueOf[resourcev1.ResourceSlice](of); s != nil && (s.Spec.NodeName == nil || *s.Spec.NodeName != node) {
		return refuse(a, fmt.Errorf("can only %s ResourceSlice with the same NodeName as the requesting node", verb))
	}
	return nil
}

// nodeCertificates lets a node ask for certificates of its own.
func nodeCertificates(_ context.Context, node string, a *writes.Attributes) error {
	request := kind.ValueOf[certificatesv1.CertificateSigningRequest](a.Object)
	if a.Operation != writes.Create || request == nil ||
		request.Spec.SignerName != certificatesv1.KubeletServingSignerName && request.Spec.SignerName != certificatesv1.KubeAPIServerClientKubeletSignerName {
		return nil
	}
	csr, err := parseRequest(request)
	if err != nil {
		return refuse(a, fmt.Errorf("unable to parse csr: %w", err))
	}
	if csr.Subject.CommonName != nodePrefix+node {
		return refuse(a, fmt.Errorf("can only create a node CSR with CN=%s%s", nodePrefix, node))
	}
	return nil
}
