package access

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/ask"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Options say what a Server does.
type Options struct {
	// RBAC authorizes by Roles, ClusterRoles and their bindings.
	RBAC bool
	// Tokens signs and checks tokens. Servers may share it.
	Tokens *Tokens
}

// Groups and users that a kube-apiserver knows by name.
const (
	groupMasters         = "system:masters"
	groupAuthenticated   = "system:authenticated"
	groupUnauthenticated = "system:unauthenticated"
	userAnonymous        = "system:anonymous"
)

// Server is the authentication and authorization of one API.
type Server struct {
	api    *httpapi.API
	tokens *Tokens
	// authenticate and authorize are the functions of the API's options, or nil. mayAll is set if there is no authorization.
	authenticate httpapi.Authenticator
	authorize    httpapi.Authorizer
	mayAll       bool
	rbac         *policy  // nil without Options.RBAC
	resources    sync.Map // of *store.Objects by meta.GroupResource, when they are first used
}

// Extend changes the options of an API, from one of its httpapi.Options.Parts. Their Authenticate and Authorize are asked first.
func Extend(a *httpapi.API, opts *httpapi.Options, o Options) *Server {
	s := &Server{api: a, tokens: o.Tokens, authenticate: opts.Authenticate, authorize: opts.Authorize}
	if o.RBAC {
		s.rbac = newPolicy(s)
	}
	s.mayAll = s.authorize == nil && s.rbac == nil
	opts.Authenticate = s.Authenticate
	if !s.mayAll {
		opts.Authorize = s.Authorize
	}
	typed.With(opts, func(ctx context.Context) context.Context { return ask.With[ask.Reviewer](ctx, s) })
	outer := opts.Middleware
	opts.Middleware = func(next http.Handler) http.Handler {
		next = s.handler(next)
		if outer != nil {
			next = outer(next)
		}
		return next
	}
	return s
}

// handler serves the documents about the key of the tokens, and passes on all other requests, as the user that they impersonate.
func (s *Server) handler(next http.Handler) http.Handler {
	keys := s.api.Guard(http.HandlerFunc(s.serveKeys))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		impersonated, err := s.impersonated(r)
		if err != nil {
			s.api.Fail(w, r, err)
			return
		}
		if impersonated != nil {
			r = r.WithContext(context.WithValue(r.Context(), impersonatedKey{}, impersonated))
		}
		if p := strings.TrimRight(r.URL.Path, "/"); p == pathConfiguration || p == pathKeys {
			keys.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Authenticate is the httpapi.Authenticator of the API.
func (s *Server) Authenticate(r *http.Request) (httpapi.User, bool) {
	if u, ok := r.Context().Value(impersonatedKey{}).(*httpapi.User); ok {
		return *u, true
	}
	return s.requestor(r)
}

// requestor returns the user whose credentials a request has. Credentials that the API itself accepts come first. A token of
// a ServiceAccount must be valid. Without an Authenticator all other requests are the administrator's.
func (s *Server) requestor(r *http.Request) (httpapi.User, bool) {
	var u httpapi.User
	ok := s.authenticate == nil
	if !ok {
		u, ok = s.authenticate(r)
	}
	if u.Name == "" || u.Name == userAnonymous {
		if claimed := s.tokens.parse(bearerToken(r.Header)); claimed != nil {
			info, _, err := s.verify(r.Context(), claimed, nil)
			return withGroup(info), err == nil
		}
	}
	if ok && s.authenticate == nil {
		u = httpapi.User{Name: "admin", Groups: []string{groupMasters}}
	}
	return withGroup(u), ok
}

// withGroup adds the group system:authenticated, or system:unauthenticated to the anonymous user.
func withGroup(u httpapi.User) httpapi.User {
	group := groupAuthenticated
	switch {
	case u.Name == userAnonymous:
		group = groupUnauthenticated
	case slices.Contains(u.Groups, groupUnauthenticated):
		return u
	}
	if !slices.Contains(u.Groups, group) {
		u.Groups = append(slices.Clip(u.Groups), group)
	}
	return u
}

// Authorize is the httpapi.Authorizer of the API: a request that the API's own Authorizer or RBAC allows is allowed.
func (s *Server) Authorize(a httpapi.Attributes) (allowed bool, reason string) {
	if s.mayAll {
		return true, ""
	}
	if s.authorize != nil {
		if allowed, reason = s.authorize(a); allowed {
			return true, reason
		}
	}
	if s.rbac == nil {
		return false, reason
	}
	allowed, why := s.rbac.allows(a)
	if allowed || reason == "" {
		return allowed, why
	}
	if why != "" {
		reason += "\n" + why
	}
	return false, reason
}

// objects returns the objects of a resource of a built-in kind, or nil if the API does not serve it.
func (s *Server) objects(group, plural string) *store.Objects {
	gr := meta.GroupResource{Group: group, Resource: plural}
	if r, ok := s.resources.Load(gr); ok {
		return r.(*store.Objects)
	}
	r := typed.ObjectsOf(s.api, gr)
	if r != nil {
		s.resources.Store(gr, r)
	}
	return r
}

// get returns an object, or the error that it is not found.
func (s *Server) get(plural, namespace, name string) (meta.Object, error) {
	if r := s.objects("", plural); r != nil {
		if o := r.Get(namespace, name); o != nil {
			return o, nil
		}
	}
	return nil, meta.NewNotFound(meta.GroupResource{Resource: plural}, name)
}
