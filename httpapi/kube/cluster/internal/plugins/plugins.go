// Package plugins has the admission plugins of kube-apiserver that are built in and not in k8s.io/apiserver, but for ResourceQuota, whose
// library is: the plugins that give fields a default, or refuse what a class, a range, a quota or a level of a namespace does not allow.
//
// They read the store when a write comes. A plugin of a real server reads through a watch, and so may see a state of a moment before.
package plugins

import (
	"cmp"
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Options say which plugins run.
type Options struct {
	// Runs reports whether the plugin of a name runs.
	Runs func(name string) bool
	// Tolerate is how many seconds Pods stay on a node that is not ready, and on one that is not reachable.
	Tolerate Tolerate
	// Authorize answers what a plugin asks about the rights of a user. Nil allows all.
	Authorize httpapi.Authorizer
}

// Tolerate has the flags of the plugin DefaultTolerationSeconds.
type Tolerate struct{ NotReady, Unreachable int64 }

// Chain is the plugins of one API in the order of a real server. It implements writes.Interface.
type Chain struct {
	admit, validate map[meta.GroupResource][]check
	deletes         map[meta.GroupResource][]check // of admit, those that are asked about deletions
}

// check is what a plugin does about a write. An error refuses it.
type check func(ctx context.Context, a *writes.Attributes) error

// plugin is an admission plugin for some resources.
type plugin struct {
	name            string // "" if it always runs, as a rule of a strategy that asks for rights
	resources       []meta.GroupResource
	admit, validate check // nil if the plugin has no such phase
	deletes         bool  // admit is asked about deletions too
}

// New returns the plugins of an API that run, or nil if there are none.
func New(api *httpapi.API, opts Options) *Chain {
	c := &Chain{admit: map[meta.GroupResource][]check{}, validate: map[meta.GroupResource][]check{}, deletes: map[meta.GroupResource][]check{}}
	for _, p := range newReader(api, opts).plugins() {
		if p.name != "" && !opts.Runs(p.name) {
			continue
		}
		for _, r := range p.resources {
			if p.admit != nil {
				c.admit[r] = append(c.admit[r], p.admit)
				if p.deletes {
					c.deletes[r] = append(c.deletes[r], p.admit)
				}
			}
			if p.validate != nil {
				c.validate[r] = append(c.validate[r], p.validate)
			}
		}
	}
	if len(c.admit)+len(c.validate) == 0 {
		return nil
	}
	return c
}

// plugins returns all plugins in the order of a real server (upstream: kubeapiserver/options, AllOrderedPlugins).
func (r *reader) plugins() []plugin {
	return []plugin{
		{name: "LimitRanger", resources: core("pods", "persistentvolumeclaims"), admit: r.applyLimits, validate: r.checkLimits},
		{name: "ServiceAccount", resources: core("pods"), admit: r.giveAccount, validate: r.checkAccount},
		{name: "NodeRestriction", resources: core("pods"), admit: restricted(r.nodePods), deletes: true},
		{name: "NodeRestriction", resources: core("persistentvolumeclaims"), admit: restricted(nodeClaims), deletes: true},
		{name: "NodeRestriction", resources: core("nodes"), admit: restricted(nodeNode), deletes: true},
		{name: "NodeRestriction", resources: core("serviceaccounts"), admit: restricted(r.nodeTokens)},
		{name: "NodeRestriction", resources: []meta.GroupResource{leases}, admit: restricted(nodeLeases), deletes: true},
		{name: "NodeRestriction", resources: []meta.GroupResource{csiNodes}, admit: restricted(nodeDrivers), deletes: true},
		{name: "NodeRestriction", resources: []meta.GroupResource{resourceSlices}, admit: restricted(nodeSlices), deletes: true},
		{name: "NodeRestriction", resources: []meta.GroupResource{signingRequests}, admit: restricted(nodeCertificates)},
		{name: "TaintNodesByCondition", resources: core("nodes"), admit: onCreate(taintNode)},
		{name: "PodSecurity", resources: podSpecs(), validate: r.podSecurity()},
		{name: "Priority", resources: append(core("pods"), priorityClasses), admit: on(r.admitPriority), validate: on(r.validatePriorityClass)},
		{name: "DefaultTolerationSeconds", resources: core("pods"), admit: on(r.tolerateNodes)},
		{name: "DefaultStorageClass", resources: core("persistentvolumeclaims"), admit: onCreate(r.defaultStorageClass)},
		{name: "StorageObjectInUseProtection", resources: append(core("persistentvolumes", "persistentvolumeclaims"), volumeAttributesClasses), admit: protectStorage},
		{name: "PersistentVolumeClaimResize", resources: core("persistentvolumeclaims"), validate: on(r.validateExpansion)},
		{name: "RuntimeClass", resources: core("pods"), admit: onCreate(r.admitRuntimeClass), validate: onCreate(r.validateRuntimeClass)},
		{name: "CertificateApproval", resources: []meta.GroupResource{signingRequests}, validate: r.mayApprove},
		{name: "CertificateSigning", resources: []meta.GroupResource{signingRequests}, validate: r.maySign},
		{name: "ClusterTrustBundleAttest", resources: []meta.GroupResource{trustBundles}, validate: r.mayAttest},
		{resources: []meta.GroupResource{podCertificateRequests}, validate: r.maySignPod},
		{name: "CertificateSubjectRestriction", resources: []meta.GroupResource{signingRequests}, validate: onCreate(restrictSubject)},
		{name: "DefaultIngressClass", resources: []meta.GroupResource{ingresses}, admit: onCreate(r.defaultIngressClass)},
		{name: "PodTopologyLabels", resources: core("pods"), admit: r.copyTopology},
		{name: "NodeDeclaredFeatureValidator", resources: core("pods"), validate: r.checkNodeFeatures},
		{name: "PodResizeValidator", resources: core("pods"), validate: r.checkResize},
	}
}

// core returns resources of the core group.
func core(plurals ...string) (all []meta.GroupResource) {
	for _, plural := range plurals {
		all = append(all, meta.GroupResource{Resource: plural})
	}
	return all
}

// on returns the check of objects of the Go type T, which are not written through a subresource.
func on[T any](f func(a *writes.Attributes, o *T) error) check {
	return func(_ context.Context, a *writes.Attributes) error {
		if o := kind.ValueOf[T](a.Object); o != nil && a.Subresource == "" {
			return f(a, o)
		}
		return nil
	}
}

// onCreate is on for new objects.
func onCreate[T any](f func(a *writes.Attributes, o *T) error) check {
	return on(func(a *writes.Attributes, o *T) error {
		if a.Operation != writes.Create {
			return nil
		}
		return f(a, o)
	})
}

// Admit implements writes.Interface.
func (c *Chain) Admit(ctx context.Context, a *writes.Attributes) error {
	switch a.Operation {
	case writes.Delete:
		return run(ctx, c.deletes, a)
	case writes.Connect:
		return nil // none of the plugins is asked
	}
	return run(ctx, c.admit, a)
}

// Validate implements writes.Interface.
func (c *Chain) Validate(ctx context.Context, a *writes.Attributes) error {
	if a.Operation == writes.Delete || a.Operation == writes.Connect {
		return nil // none of the plugins is asked
	}
	return run(ctx, c.validate, a)
}

func run(ctx context.Context, checks map[meta.GroupResource][]check, a *writes.Attributes) error {
	for _, check := range checks[a.Resource.GroupResource()] {
		if err := check(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// refuse is the answer 403 of a plugin (upstream: admission.NewForbidden).
func refuse(a *writes.Attributes, why error) error {
	gr := a.Resource.GroupResource()
	name := a.Name
	if a.Object != nil {
		m := a.Object.GetObjectMeta()
		name = cmp.Or(name, m.Name, m.GenerateName)
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: gr.Group, Resource: gr.Resource}, cmp.Or(name, "Unknown"), why)
}
