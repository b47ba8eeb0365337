package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// User is who a request comes from.
type User struct {
	Name   string
	Groups []string
}

// Authenticator tells who a request comes from, and false where it brings no
// credentials that are good: such a request is answered 401. It is called from
// many goroutines at once and must not read the body.
type Authenticator func(r *http.Request) (User, bool)

// BearerTokens returns an Authenticator for requests with the header
// "Authorization: Bearer TOKEN". All tokens are compared in a time that does
// not depend on what they have in common with the one that was sent. The map
// is copied.
func BearerTokens(tokens map[string]User) Authenticator {
	type entry struct {
		sum  [sha256.Size]byte
		user User
	}
	entries := make([]entry, 0, len(tokens))
	for token, user := range tokens {
		entries = append(entries, entry{sha256.Sum256([]byte(token)), user})
	}
	return func(r *http.Request) (User, bool) {
		scheme, token, found := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
		token = strings.TrimSpace(token)
		if !found || token == "" || !strings.EqualFold(scheme, "bearer") {
			return User{}, false
		}
		sum := sha256.Sum256([]byte(token))
		match := -1
		for i := range entries {
			if subtle.ConstantTimeCompare(sum[:], entries[i].sum[:]) == 1 {
				match = i
			}
		}
		if match < 0 {
			return User{}, false
		}
		return entries[match].user, true
	}
}

// ClientCertificates is an Authenticator for connections whose client
// certificate the server has verified: the user is its common name, the groups
// are its organizations. The TLS configuration of the server decides which
// certificates are verified, and against what.
func ClientCertificates(r *http.Request) (User, bool) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.PeerCertificates) == 0 {
		return User{}, false
	}
	subject := r.TLS.PeerCertificates[0].Subject
	return User{Name: subject.CommonName, Groups: subject.Organization}, subject.CommonName != ""
}

// AnyOf returns an Authenticator that asks several in turn.
func AnyOf(all ...Authenticator) Authenticator {
	return func(r *http.Request) (User, bool) {
		for _, a := range all {
			if u, ok := a(r); ok {
				return u, true
			}
		}
		return User{}, false
	}
}

// Attributes is what a request wants to do.
type Attributes struct {
	User User
	// Verb is one of get, list, watch, create, update, patch, delete and
	// deletecollection; for paths that are no resource it is the method in
	// lower case.
	Verb string
	Path string
	// IsResource tells whether the following members are set.
	IsResource                                bool
	Group, Version, Resource, Namespace, Name string
	// Subresource is "status" for the path of that name below an object, or "".
	Subresource string
}

// Authorizer tells whether a request may be carried out; if not it is answered
// 403 with the reason, which may be empty. It is called from many goroutines at
// once.
type Authorizer func(Attributes) (allowed bool, reason string)

// Guard returns a handler that lets a request through to h if the API would
// let it in itself: others are answered 401 or 403, whatever their path. What is
// served beside the API in this way is logged as its own requests are, and the
// context of a request ends with Close too.
func (a *API) Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.answer(w, r, func(c *call) {
			if !c.admit() {
				return
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(a.ctx, cancel)()
			h.ServeHTTP(c, r.WithContext(ctx))
		})
	})
}

// admit authenticates and authorizes the request. It reports whether the request
// may go on; if not it is answered. Health paths are open to everyone, and do
// not come here.
func (c *call) admit() bool {
	var user User
	if c.api.authenticate != nil {
		var ok bool
		if user, ok = c.api.authenticate(c.req); !ok {
			c.fail(meta.NewStatusError(http.StatusUnauthorized, meta.ReasonUnauthorized, nil, "Unauthorized"))
			return false
		}
	}
	if c.api.authorize == nil {
		return true
	}
	attributes := c.attributes(user)
	allowed, reason := c.api.authorize(attributes)
	if !allowed {
		c.Header().Set("X-Content-Type-Options", "nosniff")
		c.fail(forbidden(attributes, reason))
	}
	return allowed
}

// AttributesOf returns what a request wants to do, as an Authorizer is told, but
// for the User. It reads the method, the path and the query, and does not ask
// whether there is such a thing.
func AttributesOf(r *http.Request) Attributes {
	c := &call{req: r}
	return c.attributes(User{})
}

// attributes is AttributesOf the request, with its user.
func (c *call) attributes(user User) Attributes {
	a := Attributes{User: user, Verb: strings.ToLower(c.req.Method), Path: c.req.URL.Path}
	parts := strings.Split(strings.Trim(c.req.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		a.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		a.Group, a.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return a
	}
	a.IsResource = true
	p := parseResource(parts)
	a.Namespace, a.Resource, a.Name, a.Subresource = p.namespace, p.resource, p.name, p.subresource
	a.Verb = c.verbName(a.Name != "", p.watching)
	return a
}

func (c *call) verbName(named, watching bool) string {
	switch c.req.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	case http.MethodGet, http.MethodHead:
		switch {
		case watching || !named && c.boolParam("watch"):
			return "watch"
		case named:
			return "get"
		}
		return "list"
	}
	return strings.ToLower(c.req.Method)
}

// forbidden is the 403 in the words of the API.
func forbidden(a Attributes, reason string) error {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	if !a.IsResource {
		text := escape.Replace(fmt.Sprintf("User %q cannot %s path %q", a.User.Name, a.Verb, a.Path))
		return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, &meta.StatusDetails{}, "forbidden: "+withReason(text, reason))
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	text := escape.Replace(fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", a.User.Name, a.Verb, resource, a.Group, where))
	gr := meta.GroupResource{Group: a.Group, Resource: a.Resource}
	subject := gr.String()
	if a.Name != "" {
		subject = fmt.Sprintf("%s %q", gr, a.Name)
	}
	return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden,
		&meta.StatusDetails{Name: a.Name, Group: gr.Group, Kind: gr.Resource}, subject+" is forbidden: "+withReason(text, reason))
}

func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}
