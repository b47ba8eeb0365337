package access

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Review implements ask.Reviewer (upstream: registry/authentication and registry/authorization).
func (s *Server) Review(ctx context.Context, review runtime.Object) error {
	switch o := review.(type) {
	case *authenticationv1.TokenReview:
		return s.reviewToken(ctx, o)
	case *authenticationv1.SelfSubjectReview:
		u := userOf(ctx)
		*o = authenticationv1.SelfSubjectReview{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(s.api.Store().Now())}}
		o.Status.UserInfo = authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups, Extra: extra[authenticationv1.ExtraValue](u.Extra)}
	case *authorizationv1.SubjectAccessReview:
		s.reviewAccess(subject(&o.Spec), o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes, &o.Status)
	case *authorizationv1.LocalSubjectAccessReview:
		s.reviewAccess(subject(&o.Spec), o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes, &o.Status)
	case *authorizationv1.SelfSubjectAccessReview:
		s.reviewAccess(userOf(ctx), o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes, &o.Status)
	case *authorizationv1.SelfSubjectRulesReview:
		if o.Spec.Namespace == "" {
			return meta.NewBadRequest("no namespace on request")
		}
		status := s.rulesOf(userOf(ctx), o.Spec.Namespace)
		*o = authorizationv1.SelfSubjectRulesReview{Status: status}
	}
	return nil
}

// userOf returns the user of a request.
func userOf(ctx context.Context) httpapi.User { return store.UserOf(ctx) }

func subject(spec *authorizationv1.SubjectAccessReviewSpec) httpapi.User {
	u := httpapi.User{Name: spec.User, UID: spec.UID, Groups: spec.Groups}
	for key, values := range spec.Extra {
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[key] = values
	}
	return u
}

func extra[T ~[]string](from map[string][]string) map[string]T {
	out := make(map[string]T, len(from))
	for key, values := range from {
		out[key] = T(values)
	}
	return out
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// reviewToken asks the Authenticator of the API about a request that has nothing but the token.
func (s *Server) reviewToken(ctx context.Context, o *authenticationv1.TokenReview) error {
	if o.Spec.Token == "" {
		return meta.NewBadRequest("token is required for TokenReview in authentication")
	}
	audiences := o.Spec.Audiences
	if len(audiences) == 0 {
		audiences = s.tokens.opts.Audiences
	}
	u, valid, problem := s.userOfToken(ctx, o.Spec.Token, audiences)
	if o.Status.Authenticated = valid != nil; valid == nil {
		o.Status.Error = problem
		return nil
	}
	o.Status.User = authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups, Extra: extra[authenticationv1.ExtraValue](u.Extra)}
	o.Status.Audiences = valid
	return nil
}

// userOfToken returns the user of a token and the audiences for which it is valid, nil for an invalid one.
func (s *Server) userOfToken(ctx context.Context, token string, audiences []string) (u httpapi.User, valid []string, problem string) {
	const invalid = "invalid bearer token"
	if c := s.tokens.parse(token); c != nil {
		u, valid, err := s.verify(ctx, c, audiences)
		if err != nil {
			return u, nil, "[" + invalid + ", " + err.Error() + "]"
		}
		return withGroup(u), valid, ""
	}
	// Other tokens are valid for the server only.
	for _, a := range s.tokens.opts.Audiences {
		if slices.Contains(audiences, a) {
			valid = append(valid, a)
		}
	}
	if s.authenticate == nil || valid == nil || strings.ContainsAny(token, "\r\n") {
		return u, nil, invalid
	}
	r := (&http.Request{Method: http.MethodGet, Header: http.Header{"Authorization": {"Bearer " + token}}}).WithContext(withoutValues{ctx})
	u, ok := s.authenticate(r)
	if !ok || u.Name == userAnonymous {
		return u, nil, invalid
	}
	return withGroup(u), valid, ""
}

// withoutValues is a context that has no values: an Authenticator that gets it cannot see the user who sent the review.
type withoutValues struct{ context.Context }

// Value returns nil.
func (withoutValues) Value(any) any { return nil }

// reviewAccess asks the Authorizer of the API.
func (s *Server) reviewAccess(u httpapi.User, r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes, status *authorizationv1.SubjectAccessReviewStatus) {
	a := httpapi.Attributes{User: u}
	if r != nil {
		a.IsResource, a.Verb, a.Group, a.Version, a.Resource, a.Subresource = true, r.Verb, r.Group, r.Version, r.Resource, r.Subresource
		a.Namespace, a.Name = r.Namespace, r.Name
		if a.Version == "" {
			a.Version = "*"
		}
	} else {
		a.Verb, a.Path = n.Verb, n.Path
	}
	allowed, reason := s.Authorize(a)
	*status = authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Reason: reason, EvaluationError: selectorErrors(r)}
}

// selectorErrors reports selectors that cannot be parsed. An Authorizer does not get selectors.
func selectorErrors(r *authorizationv1.ResourceAttributes) string {
	if r == nil {
		return ""
	}
	var errs []string
	note := func(member string, bad, total int) {
		switch {
		case bad == 0:
		case bad < total:
			errs = append(errs, fmt.Sprintf("spec.resourceAttributes.%s partially ignored due to parse error", member))
		default:
			errs = append(errs, fmt.Sprintf("spec.resourceAttributes.%s ignored due to parse error", member))
		}
	}
	if s := r.FieldSelector; s != nil {
		bad := 0
		for _, q := range s.Requirements {
			if q.Operator != metav1.FieldSelectorOpIn && q.Operator != metav1.FieldSelectorOpNotIn || len(q.Values) != 1 {
				bad++
			}
		}
		if _, err := fields.ParseSelector(s.RawSelector); err != nil {
			bad++
		}
		note("fieldSelector", bad, max(len(s.Requirements), 1))
	}
	if s := r.LabelSelector; s != nil {
		bad := 0
		for _, q := range s.Requirements {
			if _, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{q}}); err != nil {
				bad++
			}
		}
		if _, err := labels.Parse(s.RawSelector); err != nil {
			bad++
		}
		note("labelSelector", bad, max(len(s.Requirements), 1))
	}
	return strings.Join(errs, "; ")
}

// rulesOf returns the rules of a user in a namespace. Only RBAC can list them.
func (s *Server) rulesOf(u httpapi.User, namespace string) authorizationv1.SubjectRulesReviewStatus {
	status := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}
	if s.mayAll {
		all := []string{"*"}
		status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{Verbs: all, APIGroups: all, Resources: all})
		status.NonResourceRules = append(status.NonResourceRules, authorizationv1.NonResourceRule{Verbs: all, NonResourceURLs: all})
		return status
	}
	if s.authorize != nil {
		status.Incomplete = true
		status.EvaluationError = "the authorizer of the API does not support user rule resolution"
	}
	if s.rbac == nil {
		return status
	}
	rules, errs := s.rbac.rules(u, namespace)
	if err := utilerrors.NewAggregate(errs); err != nil {
		status.EvaluationError = strings.TrimPrefix(status.EvaluationError+", "+err.Error(), ", ")
	}
	for _, r := range rules {
		if len(r.Resources) > 0 {
			status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{
				Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames,
			})
		}
		if len(r.NonResourceURLs) > 0 {
			status.NonResourceRules = append(status.NonResourceRules, authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	return status
}
