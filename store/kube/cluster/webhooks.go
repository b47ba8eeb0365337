package cluster

import (
	"context"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/admission"
	"github.com/kubecoord/kubecoord/store/kube/internal/webhooks"
)

// extendWebhooks returns the Calls by which one API reaches its webhooks, or nil without Webhooks and Dial. The functions of Run,
// such as crd.Run, get them in their context, for conversions.
func (o Options) extendWebhooks(a *httpapi.API, opts *httpapi.Options) *webhooks.Calls {
	if !o.Webhooks && o.Dial == nil {
		return nil
	}
	calls := webhooks.New(webhooks.Options{Dial: o.Dial, Services: admission.Services(a, o.Dial != nil), Clock: a.Store().Clock()})
	run := make([]func(context.Context, *httpapi.API), 0, len(opts.Run)+1)
	for _, f := range opts.Run {
		run = append(run, func(ctx context.Context, a *httpapi.API) { f(webhooks.With(ctx, calls), a) })
	}
	opts.Run = append(run, func(ctx context.Context, _ *httpapi.API) {
		<-ctx.Done()
		calls.Close()
	})
	return calls
}

// extendAdmission sets the admission of one API. last, if it is not nil, is called after all plugins.
func (o Options) extendAdmission(a *httpapi.API, opts *httpapi.Options, last httpapi.Admission) {
	settings := admission.Options{
		Namespaces: o.Namespaces, Policies: o.Policies, Webhooks: o.Webhooks, Authorize: opts.Authorize, Calls: o.extendWebhooks(a, opts),
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
}
