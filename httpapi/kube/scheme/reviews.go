package scheme

import (
	"context"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/ask"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Reviews returns kinds that Kinds does not have, because their answers come from the authentication and authorization of a server.
// reviews are TokenReview, SubjectAccessReview and the other reviews. serviceAccount is ServiceAccount with the subresource token:
// serve it in place of the ServiceAccount of Kinds. Package cluster has the answers. The kinds are
// made once per process and shared.
func Reviews() (reviews []kind.Kind, serviceAccount kind.Kind, err error) {
	for i, kind := range reviewKinds() {
		k, err := kind()
		if err != nil {
			return nil, nil, fmt.Errorf("scheme: %w", err)
		}
		if i == 0 {
			serviceAccount = k
			continue
		}
		reviews = append(reviews, k)
	}
	return reviews, serviceAccount, nil
}

// reviewKinds returns the kinds of Reviews, the ServiceAccount first.
var reviewKinds = sync.OnceValue(func() (out []func() (kind.Kind, error)) {
	b := newBuilder()
	add := func(r served) {
		out = append(out, sync.OnceValues(func() (kind.Kind, error) { return b.builtin(r) }))
	}
	account := serviceAccount()
	account.subresources = tokenSubresource
	add(account)
	const authentication, authorization = "authentication.k8s.io", "authorization.k8s.io"
	for _, r := range []served{
		{group: authentication, kind: "TokenReview", plural: "tokenreviews"},
		{group: authentication, kind: "SelfSubjectReview", plural: "selfsubjectreviews", fresh: true},
		{group: authorization, kind: "SubjectAccessReview", plural: "subjectaccessreviews"},
		{group: authorization, kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews"},
		{group: authorization, kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews", fresh: true},
		{group: authorization, kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews"},
	} {
		r.version, r.verbs, r.answers = "v1", []string{"create"}, true
		r.cluster = r.kind != "LocalSubjectAccessReview"
		add(r)
	}
	return out
})

// answer returns the function that answers a review. The answer of a fresh kind has no metadata of the request.
func answer(fresh bool) func(context.Context, meta.Object) error {
	return func(ctx context.Context, o meta.Object) error {
		reviewer := ask.Of[ask.Reviewer](ctx)
		if reviewer == nil {
			return nil
		}
		if err := reviewer.Review(ctx, valueOf(o)); err != nil {
			return err
		}
		if m := o.GetObjectMeta(); fresh {
			*m = meta.ObjectMeta{Name: m.Name, Namespace: m.Namespace, UID: m.UID, CreationTimestamp: m.CreationTimestamp}
		}
		return nil
	}
}

// tokenSubresource makes a token for each create (upstream: registry/core/serviceaccount/storage, TokenREST).
func tokenSubresource(b *builder) ([]kind.Subresource[meta.Object], error) {
	request, err := b.body("authentication.k8s.io", "v1", "TokenRequest", "create")
	if err != nil {
		return nil, err
	}
	return []kind.Subresource[meta.Object]{{
		Name: "token", Body: request, Verbs: []string{"create"},
		Answer: func(ctx context.Context, parent, body meta.Object) (meta.Object, error) {
			reviewer := ask.Of[ask.Reviewer](ctx)
			if reviewer == nil {
				return nil, meta.NewNotFound(meta.GroupResource{Resource: "serviceaccounts/token"}, parent.GetObjectMeta().Name)
			}
			return body, reviewer.Token(ctx, value[corev1.ServiceAccount](parent), value[authenticationv1.TokenRequest](body))
		},
	}}, nil
}
