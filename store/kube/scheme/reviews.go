package scheme

import (
	"context"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Reviewer answers reviews and requests for tokens. Its methods get objects of their own.
type Reviewer interface {
	// Review completes a review of the group authentication.k8s.io/v1 or authorization.k8s.io/v1, which is valid. The answer
	// has the name, namespace, uid and creationTimestamp of the object.
	Review(ctx context.Context, review runtime.Object) error
	// Token completes a request for a token of a ServiceAccount.
	Token(ctx context.Context, account *corev1.ServiceAccount, request *authenticationv1.TokenRequest) error
}

type reviewerKey struct{}

// WithReviewer returns a context for requests whose reviews and tokens r answers. Without one, reviews are answered as they
// are sent, and tokens are refused.
func WithReviewer(ctx context.Context, r Reviewer) context.Context {
	return context.WithValue(ctx, reviewerKey{}, r)
}

func reviewerOf(ctx context.Context) Reviewer {
	r, _ := ctx.Value(reviewerKey{}).(Reviewer)
	return r
}

// Reviews returns kinds that Kinds does not have, because their answers come from the authentication and authorization of a server.
// reviews are TokenReview, SubjectAccessReview and the other reviews. serviceAccount is ServiceAccount with the subresource token;
// it must replace the ServiceAccount of Kinds. The Reviewer of WithReviewer gives the answers; package cluster has one. The kinds are
// made once per process and shared.
func Reviews() (reviews []store.AnyKind, serviceAccount store.AnyKind, err error) {
	for i, kind := range reviewKinds() {
		k, err := kind()
		if err != nil {
			return nil, nil, fmt.Errorf("scheme: %w", err)
		}
		if i == 0 {
			serviceAccount = registered{k}
			continue
		}
		reviews = append(reviews, registered{k})
	}
	return reviews, serviceAccount, nil
}

// reviewKinds returns the kinds of Reviews, the ServiceAccount first.
var reviewKinds = sync.OnceValue(func() (out []func() (*kinds.Kind, error)) {
	b := newBuilder()
	add := func(r served) {
		out = append(out, sync.OnceValues(func() (*kinds.Kind, error) { return b.builtin(r) }))
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
func (t *objectType) answer(fresh bool) func(context.Context, kinds.Object) error {
	return func(ctx context.Context, o kinds.Object) error {
		reviewer := reviewerOf(ctx)
		if reviewer == nil {
			return nil
		}
		return t.answered(o, fresh, func(obj runtime.Object) error { return reviewer.Review(ctx, obj) })
	}
}

// answered calls f with an object as a value of the Go type, and stores what it has changed.
func (t *objectType) answered(o kinds.Object, fresh bool, f func(runtime.Object) error) error {
	obj, err := t.typed(o)
	if err != nil {
		return meta.NewBadRequest("%v", err)
	}
	if err := f(obj); err != nil {
		return err
	}
	content, err := contentOf(obj)
	if err != nil {
		return err
	}
	o.(*store.Unstructured).Content = content
	m, changed := o.GetObjectMeta(), metaOf(obj)
	if fresh {
		m.ManagedFields, m.Labels, m.Annotations, m.OwnerReferences, m.Finalizers = nil, nil, nil, nil, nil
		m.GenerateName, m.ResourceVersion, m.Generation = "", "", 0
	}
	m.Name, m.Namespace, m.UID = changed.Name, changed.Namespace, meta.UID(changed.UID)
	m.CreationTimestamp = meta.Time(changed.CreationTimestamp)
	return nil
}

// tokenSubresource makes a token for each create (upstream: registry/core/serviceaccount/storage, TokenREST).
func tokenSubresource(b *builder) ([]kinds.Subresource, error) {
	request, t, err := b.body("authentication.k8s.io", "v1", "TokenRequest", "create")
	if err != nil {
		return nil, err
	}
	account, _, err := b.version(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	return []kinds.Subresource{{
		Name: "token", Body: request, Verbs: []string{"create"},
		Answer: func(ctx context.Context, parent, body kinds.Object) (kinds.Object, error) {
			reviewer := reviewerOf(ctx)
			if reviewer == nil {
				return nil, meta.NewNotFound(meta.GroupResource{Resource: "serviceaccounts/token"}, parent.GetObjectMeta().Name)
			}
			sa, err := account.typed(parent)
			if err != nil {
				return nil, err
			}
			return body, t.answered(body, false, func(obj runtime.Object) error {
				return reviewer.Token(ctx, sa.(*corev1.ServiceAccount), obj.(*authenticationv1.TokenRequest))
			})
		},
	}}, err
}
