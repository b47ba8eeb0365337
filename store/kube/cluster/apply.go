package cluster

import (
	"fmt"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/access"
)

// Apply adds what o says to the options of an API: kinds, authentication, authorization, admission and controllers. Each API that is
// made with these options has its own, and so has each fork. Apply must be called once, after all kinds were added. The built-in kinds
// must be those of package scheme.
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
