package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/selector"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// User is the user of a request.
type User = store.User

// Authenticator returns the user of a request, and whether its credentials are valid; if not, the
// answer is 401. It must be safe for concurrent use and must not read the body.
type Authenticator func(r *http.Request) (User, bool)

// BearerTokens returns an Authenticator for the header "Authorization: Bearer TOKEN". Text after a
// second space is ignored (upstream: apiserver, authentication/request/bearertoken). Tokens are
// compared in constant time. The map is copied.
//
// By plain HTTP, kubectl, and client-go with a kubeconfig, send no token: serve HTTPS, for example by package serve.
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
		parts := strings.SplitN(strings.TrimSpace(r.Header.Get("Authorization")), " ", 3)
		if len(parts) < 2 || parts[1] == "" || !strings.EqualFold(parts[0], "bearer") {
			return User{}, false
		}
		sum := sha256.Sum256([]byte(parts[1]))
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

// ClientCertificates is an Authenticator for connections with a client certificate, which
// tls.Config.ClientAuth must make the server verify. The common name is the user, the organizations
// are the groups.
func ClientCertificates(r *http.Request) (User, bool) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.PeerCertificates) == 0 {
		return User{}, false
	}
	subject := r.TLS.PeerCertificates[0].Subject
	return User{Name: subject.CommonName, Groups: subject.Organization}, subject.CommonName != ""
}

// AnyOf returns an Authenticator that calls the given ones in turn until one accepts the request.
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

// Attributes describe a request to an Authorizer.
type Attributes struct {
	User User
	// Verb is get, list, watch, create, update, patch, delete or deletecollection. For a path
	// without a resource it is the method in lower case.
	Verb string
	Path string
	// IsResource reports whether the following fields are set.
	IsResource                                bool
	Group, Version, Resource, Namespace, Name string // Name may come from a fieldSelector, as on a real server
	// Subresource is the last part of the path, such as "status", or "".
	Subresource string
}

// Authorizer reports whether a request is allowed; if not, the answer is 403 with the reason, which
// may be empty. It is called again, with the verb create, for an update or an apply that creates its
// object. It must be safe for concurrent use.
type Authorizer func(Attributes) (allowed bool, reason string)

// Guard returns a handler that passes a request on to h if Authenticate, Authorize and Hosts allow it,
// as for the API itself. RequestTimeout limits its body. Requests are logged, and Close ends their
// contexts.
func (a *API) Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := a.newCall(w, r)
		defer c.end()
		if a.timeout > 0 {
			c.limitBody(c.began.Add(a.timeout))
		}
		err := c.checkOrigin()
		if err == nil {
			err = c.identify()
		}
		if err == nil {
			err = c.permit()
		}
		if err != nil {
			c.fail(err)
			return
		}
		ctx, done := c.untilClose()
		defer done()
		h.ServeHTTP(c, r.WithContext(ctx))
	})
}

// identify authenticates the request.
func (c *call) identify() error {
	if c.api.authenticate == nil {
		return nil
	}
	if u, ok := c.api.authenticate(c.req); ok {
		c.user = &u
		c.setContext(store.WithUser(c.req.Context(), u))
		return nil
	}
	return meta.NewStatusError(http.StatusUnauthorized, meta.ReasonUnauthorized, nil, "Unauthorized")
}

// permit authorizes the request.
func (c *call) permit() error {
	if c.api.authorize == nil {
		return nil
	}
	err := c.checkAllowed(c.attributes())
	if err != nil {
		c.noSniff()
	}
	return err
}

// mayCreate authorizes an update or an apply that creates its object (upstream: apiserver,
// endpoints/handlers/update.go, withAuthorization).
func (c *call) mayCreate() error {
	a := c.attributes()
	a.Verb = "create"
	return c.checkAllowed(a)
}

func (c *call) checkAllowed(a Attributes) error {
	if allowed, reason := c.api.authorize(a); !allowed {
		return a.Forbidden(reason)
	}
	return nil
}

// AttributesOf returns the Attributes of a request, without the User. It reads only the method, the
// path and the query; the resource need not exist.
func AttributesOf(r *http.Request) Attributes { return (&call{req: r}).attributes() }

func (c *call) attributes() Attributes {
	a := Attributes{Path: c.req.URL.Path}
	if c.user != nil {
		a.User = *c.user
	}
	var all [8]string // for nearly all paths
	parts := slices.AppendSeq(all[:0], strings.SplitSeq(strings.Trim(a.Path, "/"), "/"))
	switch {
	case len(parts) > 2 && parts[0] == "api":
		a.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		a.Group, a.Version, parts = parts[1], parts[2], parts[3:]
	default:
		a.Verb = strings.ToLower(c.req.Method)
		return a
	}
	a.IsResource = true
	p := parseResource(parts)
	a.Namespace, a.Resource, a.Name, a.Subresource = p.namespace, p.resource, p.name, p.subresource
	a.Verb = c.verbName(a.Name != "", p.watching)
	if a.Name == "" && !p.watching && (a.Verb == "list" || a.Verb == "watch") {
		a.Name = c.selectedName()
	}
	return a
}

// selectedName returns the name of the only object that the fieldSelector can select, or ""
// (upstream: endpoints/request/requestinfo.go).
func (c *call) selectedName() string {
	fields, err := selector.ParseFields(c.param("fieldSelector"))
	if name, ok := fields.Exact("metadata.name"); err == nil && ok && validate.NameIsPathSegment(name, false) == nil {
		return name
	}
	return ""
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

// Forbidden returns the error of a request that is not allowed: 403 with the reason, which may be "".
func (a Attributes) Forbidden(reason string) error {
	if reason != "" {
		reason = ": " + reason
	}
	if !a.IsResource {
		text := escaped(fmt.Sprintf("User %q cannot %s path %q", a.User.Name, a.Verb, a.Path))
		return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, &meta.StatusDetails{}, "forbidden: "+text+reason)
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	text := escaped(fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", a.User.Name, a.Verb, resource, a.Group, where))
	gr := meta.GroupResource{Group: a.Group, Resource: a.Resource}
	subject := gr.String()
	if a.Name != "" {
		subject = fmt.Sprintf("%s %q", gr, a.Name)
	}
	return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden,
		&meta.StatusDetails{Name: a.Name, Group: gr.Group, Kind: gr.Resource}, subject+" is forbidden: "+text+reason)
}
