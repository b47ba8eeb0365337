package cluster

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/admission"
)

// extendAdmission sets the admission of one API. last, if it is not nil, is called after all plugins.
func (o Options) extendAdmission(a *httpapi.API, opts *httpapi.Options, last httpapi.Admission) {
	settings := admission.Options{
		Namespaces: o.Namespaces, Policies: o.Policies, Webhooks: o.Webhooks, Authorize: opts.Authorize, Dial: o.Dial,
	}
	if last != nil {
		settings.Last = []httpapi.Admission{last}
	}
	if !o.Namespaces && !o.Policies && !o.Webhooks {
		if last != nil {
			opts.Admission = func(*httpapi.API) httpapi.Admission { return last }
		}
		return
	}
	chain := admission.New(a, settings)
	opts.Admission = func(*httpapi.API) httpapi.Admission { return chain }
	if o.Webhooks {
		opts.Run = append(slices.Clip(opts.Run), func(ctx context.Context, _ *httpapi.API) {
			<-ctx.Done()
			chain.Close()
		})
	}
}
