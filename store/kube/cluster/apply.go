package cluster

import (
	"fmt"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/access"
)

// Apply adds to the options of an API what o says: kinds, and, for each API that is made of them, forks too, authentication,
// authorization and admission. It must be called after all kinds were added, and once. The kinds of the API must be the ones of
// package scheme.
func (o Options) Apply(api *httpapi.Options) error {
	if o.Reviews {
		if err := addReviews(api); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	if err := o.addNamespaces(api); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	tokens := access.NewTokens(o.Tokens)
	earlier := api.Extend
	api.Extend = func(a *httpapi.API, opts *httpapi.Options) {
		if earlier != nil {
			earlier(a, opts)
		}
		o.extendNamespaces(a, opts)
		o.extendControllers(opts)
		o.extendAdmission(a, opts, o.extendAccess(a, opts, tokens))
	}
	return nil
}
