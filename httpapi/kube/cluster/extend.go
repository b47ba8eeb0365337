package cluster

import (
	"cmp"
	"context"
	"crypto"
	"fmt"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/access"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/addresses"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/admission"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/aggregator"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/collector"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/disruption"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/initial"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/namespaces"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/plugins"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/policystatus"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/proxies"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/quotastatus"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/webhooks"
	storeadmission "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Tokens say how tokens of ServiceAccounts are signed and checked. The zero value signs with a key that is made with the first
// token, which all forks of a server share.
type Tokens struct {
	// Issuer is the claim iss of new tokens. Tokens of Issuers are accepted too. Default of Issuer:
	// https://kubernetes.default.svc.cluster.local.
	Issuer  string
	Issuers []string
	// Audiences are the names of the server: a token must be for one of them. Default: Issuer.
	Audiences []string
	// Key signs tokens: an RSA or ECDSA key. Default: a key that is made with the first token.
	Key crypto.Signer
	// PublicKeys check tokens, besides the public key of Key.
	PublicKeys []crypto.PublicKey
	// MaxExpiration shortens longer tokens. Zero means no limit.
	MaxExpiration time.Duration
}

// defaultPort is the default of kube-apiserver's flag --secure-port.
const defaultPort = 6443

// bootstrapTime bounds how long an API that starts waits for a store on etcd.
const bootstrapTime = 10 * time.Second

// extend adds to one API what o says, before its first request.
func (o Options) extend(a *httpapi.API, opts *httpapi.Options, tokens *access.Tokens) {
	o.withoutCandidates(a)
	calls := o.calls(a, opts)
	run(opts, func(ctx context.Context, a *httpapi.API) { crd.Run(webhooks.With(ctx, calls), a) })
	o.addresses(a, opts)
	o.bootstrap(a, opts)
	o.initial(a, opts)
	if o.GarbageCollection {
		run(opts, collector.Run)
	}
	if o.NamespaceDeletion {
		run(opts, namespaces.Delete)
	}
	if o.QuotaStatus {
		run(opts, quotastatus.Run)
	}
	if o.PolicyStatus {
		run(opts, policystatus.Run)
	}
	proxies.Extend(a, opts, o.Dial, addresses.FamilyOf(o.serviceRanges()[0].Addr()))
	if o.Disruptions {
		disruption.Extend(a, opts)
	}
	o.zpages(a, opts)
	last := o.access(a, opts, tokens)
	// Impersonation comes before it.
	aggregator.Extend(a, opts, aggregator.Options{Dial: o.Dial, Services: admission.Services(a, o.Dial != nil, o.Addresses), Register: o.Objects})
	if slices.ContainsFunc(slices.Concat(plugins.Names(), plugins.Optional()), o.runs) || last != nil {
		opts.Admission = o.admission(a, opts, calls, last)
	}
}

// withoutCandidates takes LeaseCandidates away, which each API serves. A fork has the kinds of its parent.
func (o Options) withoutCandidates(a *httpapi.API) {
	if k := candidate.Kind(); !o.LeaseCandidates && slices.ContainsFunc(a.Kinds(), func(have kind.Kind) bool { return have.GroupResource() == k.GroupResource() }) {
		_ = a.RemoveKinds(context.Background(), httpapi.RemoveOptions{}, k) // the kind is served
	}
}

// admission returns the admission plugins of one API, and last after them.
func (o Options) admission(a *httpapi.API, opts *httpapi.Options, calls *webhooks.Calls, last storeadmission.Interface) storeadmission.Interface {
	chain := admission.Options{Runs: o.runs, Authorize: opts.Authorize, Calls: calls, Last: last}
	tolerate := plugins.Tolerate{NotReady: seconds(o.NotReadySeconds), Unreachable: seconds(o.UnreachableSeconds)}
	if builtIn := plugins.New(a, plugins.Options{Runs: o.runs, Authorize: opts.Authorize, Tolerate: tolerate}); builtIn != nil {
		chain.BuiltIn = builtIn
	}
	return admission.New(a, chain)
}

// seconds returns the value of a flag whose default is 300.
func seconds(n *int64) int64 {
	if n == nil {
		return 300
	}
	return *n
}

// run adds a controller.
func run(opts *httpapi.Options, controller func(context.Context, *httpapi.API)) {
	opts.Parts = append(opts.Parts, httpapi.Controller(controller))
}

// calls returns the Calls by which one API reaches its webhooks, or nil without webhooks and Dial.
func (o Options) calls(a *httpapi.API, opts *httpapi.Options) *webhooks.Calls {
	if !o.runs("MutatingAdmissionWebhook") && !o.runs("ValidatingAdmissionWebhook") && o.Dial == nil {
		return nil
	}
	calls := webhooks.New(webhooks.Options{Dial: o.Dial, Services: admission.Services(a, o.Dial != nil, o.Addresses), Clock: a.Store().Clock()})
	run(opts, func(ctx context.Context, _ *httpapi.API) {
		<-ctx.Done()
		calls.Close()
	})
	return calls
}

// bootstrap makes the namespaces and the service.
func (o Options) bootstrap(a *httpapi.API, opts *httpapi.Options) {
	b := namespaces.Bootstrap{Namespaces: o.Namespaces}
	if o.Service {
		b.ServicePort, b.ServiceIP = cmp.Or(o.ServicePort, defaultPort), addresses.First(o.serviceRanges()[0])
	}
	if b == (namespaces.Bootstrap{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), bootstrapTime)
	defer cancel()
	if err := b.Make(ctx, a); err != nil {
		opts.Checks = append(opts.Checks, check("start-system-namespaces-controller", func(ctx context.Context) error { return b.Make(ctx, a) }))
	}
	run(opts, b.Run)
}

// initial makes the objects of a server that starts.
func (o Options) initial(a *httpapi.API, opts *httpapi.Options) {
	of := initial.Options{Objects: o.Objects, Service: o.Service, Advertise: o.Advertise, Port: cmp.Or(o.ServicePort, defaultPort)}
	if o.Objects {
		of.ClientCA = o.ClientCA
	}
	if o.Objects {
		run(opts, of.Keep)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bootstrapTime)
	defer cancel()
	if err := initial.Make(ctx, a, of); err != nil {
		opts.Checks = append(opts.Checks, check("scheduling/bootstrap-system-priority-classes", func(ctx context.Context) error { return initial.Make(ctx, a, of) }))
	}
}

// access adds authentication and authorization. Its result refuses roles and bindings that give more than their writer has; it is
// nil without RBAC.
func (o Options) access(a *httpapi.API, opts *httpapi.Options, tokens *access.Tokens) storeadmission.Interface {
	if !o.Reviews && !o.RBAC {
		return nil
	}
	s := access.Extend(a, opts, access.Options{RBAC: o.RBAC, Tokens: tokens})
	if err := s.Bootstrap(context.Background()); err != nil {
		opts.Checks = append(opts.Checks, check("rbac/bootstrap-roles", func(context.Context) error { return err }))
	}
	return s.Admission()
}

// check returns a health check with the name of a hook of kube-apiserver.
func check(hook string, healthy func(context.Context) error) httpapi.HealthCheck {
	return httpapi.HealthCheck{Name: "poststarthook/" + hook, Healthy: func(ctx context.Context) error {
		if err := healthy(ctx); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
		return nil
	}}
}
