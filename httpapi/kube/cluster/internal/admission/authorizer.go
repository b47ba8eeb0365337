package admission

import (
	"context"

	upstream "k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubecoord/kubecoord/httpapi"
)

// authorizer answers CEL expressions by the Authorize of an API.
type authorizer struct{ authorize httpapi.Authorizer }

// Authorize implements the library's UnconditionalAuthorizer.
func (z authorizer) Authorize(_ context.Context, a upstream.Attributes) (upstream.Decision, string, error) {
	if z.authorize == nil {
		return upstream.DecisionAllow, "", nil
	}
	attributes := httpapi.Attributes{
		Verb: a.GetVerb(), Path: a.GetPath(), IsResource: a.IsResourceRequest(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(),
		Resource: a.GetResource(), Subresource: a.GetSubresource(), Namespace: a.GetNamespace(), Name: a.GetName(),
	}
	if u := a.GetUser(); u != nil {
		attributes.User = httpapi.User{Name: u.GetName(), Groups: u.GetGroups()}
	}
	if allowed, reason := z.authorize(attributes); !allowed {
		return upstream.DecisionNoOpinion, reason, nil
	}
	return upstream.DecisionAllow, "", nil
}
