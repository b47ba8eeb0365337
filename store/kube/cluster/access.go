package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/access"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/disruption"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// Tokens say how tokens of ServiceAccounts are signed and checked. The zero value signs with a key that is made with the first
// token, which all forks of a server share.
type Tokens = access.TokenOptions

// addReviews adds the kinds of reviews, and the token of ServiceAccounts, to the kinds that an API serves.
func addReviews(api *httpapi.Options) error {
	reviews, account, err := scheme.Reviews()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(api.Kinds, func(k store.AnyKind) bool {
		return k.Registered().GroupResource() == account.Registered().GroupResource()
	})
	api.Kinds = slices.Clone(api.Kinds)
	if i >= 0 {
		api.Kinds[i] = account
	}
	api.Kinds = append(api.Kinds, reviews...)
	return nil
}

// extendAccess adds authentication and authorization to one API. Its result refuses roles and bindings that give more than
// their writer has; it is nil without RBAC.
func (o Options) extendAccess(a *httpapi.API, opts *httpapi.Options, tokens *access.Tokens) httpapi.Admission {
	if o.Disruptions {
		disruption.Extend(a, opts)
	}
	if !o.Reviews && !o.RBAC {
		return nil
	}
	s := access.Extend(a, opts, access.Options{RBAC: o.RBAC, Tokens: tokens})
	if !o.RBAC {
		return nil
	}
	if err := s.Bootstrap(context.Background()); err != nil {
		opts.Checks = append(slices.Clip(opts.Checks), httpapi.HealthCheck{
			Name: "poststarthook/rbac/bootstrap-roles", Healthy: func(context.Context) error { return fmt.Errorf("cluster: %w", err) },
		})
	}
	return s.Admission()
}
