package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// resourceRequest answers a request for a resource. A path without a namespace can be listed
// and watched; for other methods it is known (405) with a built-in kind, and unknown with a
// custom resource.
func (c *call) resourceRequest() {
	info := c.endpoint.Info
	if c.subresource != "" {
		c.sub = c.endpoint.Kind.SubresourceIn(c.endpoint.Version, c.subresource)
	}
	noSubresource := c.subresource != "" && c.sub == nil
	namespacedPathOfClusterKind := c.namespaced && info.ClusterScoped
	clusterPathOfNamespacedKind := !c.namespaced && !info.ClusterScoped
	tooLong := c.below != "" && (c.sub == nil || !c.sub.ConnectPaths)
	noRoute := noSubresource || tooLong || namespacedPathOfClusterKind || clusterPathOfNamespacedKind && c.name != ""
	switch {
	case info.Native && noRoute: // it has a web service, which knows its paths
		c.fail(notFound())
		return
	case namespacedPathOfClusterKind, clusterPathOfNamespacedKind && !info.Native && !c.readsMany():
		c.unknownPath()
		return
	case noSubresource:
		c.warn(info.Versions[c.endpoint.Version].Deprecated)
		c.fail(meta.NewNotFound(c.groupResource(), c.name))
		return
	}
	name, verb, streams, err := c.verb()
	if c.sub != nil {
		verb, streams, err = c.subVerb()
	} else if !info.Serves(name) {
		err = c.notServed(namespacedPathOfClusterKind || clusterPathOfNamespacedKind)
	}
	if err == nil {
		err = c.prepare(streams)
	}
	if err == nil {
		err = verb(c)
	}
	if err != nil {
		c.fail(err)
	}
}

// subVerb is verb for a subresource.
func (c *call) subVerb() (verb func(*call) error, streams bool, err error) {
	name := c.verbName(true, false)
	switch {
	case c.name != "" && c.sub.ConnectPaths && (c.req.Method == http.MethodHead || c.req.Method == http.MethodOptions):
		verb = (*call).connect
	case c.name == "" || c.req.Method == http.MethodHead || !slices.Contains(c.sub.Verbs, name):
		err = c.notSupported()
	case c.sub.Connect != nil:
		verb = (*call).connect
	case name == "get":
		verb = (*call).get
	case name == "update":
		verb = (*call).update
	case name == "patch":
		verb = (*call).patch
	default:
		verb = (*call).createSub
	}
	return verb, false, err
}

// connect answers a request that a real server passes on, as to a kubelet.
func (c *call) connect() error {
	if slices.Contains(c.sub.Verbs, "create") && len(c.params()["dryRun"]) > 0 { // all but a log, which upstream gets
		return meta.NewBadRequest("dryRun is not supported")
	}
	to := kind.Connection{Namespace: c.namespace, Name: c.name, Path: c.below, Query: c.req.URL.Query()}
	if strings.HasSuffix(c.req.URL.Path, "/") && !strings.HasSuffix(to.Path, "/") {
		to.Path += "/"
	}
	if c.sub.Options != nil {
		if err := c.admitConnection(&to); err != nil {
			return err
		}
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	h, err := c.sub.Connect(c.context(), to, func(name string) (kinds.Object, error) {
		it, err := c.resource.Get(c.context(), c.namespace, name, "")
		if err != nil {
			return nil, err
		}
		return it.Stored(), nil
	})
	switch {
	case err != nil:
		return err
	case h != nil && c.header("Upgrade") != "":
		h.ServeHTTP(c.w, c.req) // which may give its connection away
	case h != nil:
		h.ServeHTTP(c, c.req)
	default:
		c.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// admitConnection reads the options of a request that is passed on, and asks the Admission about them.
func (c *call) admitConnection(to *kind.Connection) (err error) {
	if to.Options, err = c.sub.Options(*to); err != nil {
		return meta.NewBadRequest("%v", err)
	}
	c.writeOptions()
	return c.resource.Connect(c.context(), c.request(), to.Options)
}

// readsMany reports whether the request is a list or a watch.
func (c *call) readsMany() bool {
	verb := c.verbName(c.name != "", c.watching)
	return verb == "list" || verb == "watch"
}

// verb returns the name of the verb, the method that answers the request, and whether its route can stream.
func (c *call) verb() (name string, verb func(*call) error, streams bool, err error) {
	custom := !c.endpoint.Info.Native
	inScope := c.namespaced != c.endpoint.Info.ClusterScoped
	one := c.name != "" && !c.watching
	switch method := c.req.Method; {
	case one && method == http.MethodGet:
		return "get", (*call).get, false, nil
	case one && method == http.MethodPut:
		return "update", (*call).update, false, nil
	case one && method == http.MethodPatch:
		return "patch", (*call).patch, false, nil
	case c.watching && method != http.MethodGet:
		return "", nil, false, c.notSupported()
	case one && method == http.MethodDelete:
		return "delete", (*call).delete, false, nil
	case method == http.MethodGet && (c.watching || c.boolParam("watch")):
		return "watch", (*call).watch, true, nil
	case method == http.MethodGet:
		return "list", (*call).list, true, nil
	case inScope && method == http.MethodPost && (c.name == "" || custom): // custom resources ignore the name
		return "create", (*call).create, false, nil
	case inScope && method == http.MethodDelete:
		return "deletecollection", (*call).deleteCollection, false, nil
	case custom && (method == http.MethodPut || method == http.MethodPatch):
		return "", nil, false, meta.NewBadRequest("name must be provided")
	}
	return "", nil, false, c.notSupported()
}

// notServed returns the error for a verb that the kind does not have: 404 if the path has no other verb, else 405.
func (c *call) notServed(clusterPath bool) error {
	verbs := []string{"create", "list", "deletecollection"}
	switch {
	case c.watching:
		verbs = []string{"watch"}
	case c.name != "":
		verbs = []string{"get", "update", "patch", "delete"}
	case clusterPath:
		verbs = []string{"list"}
	}
	if c.verbName(c.name != "", c.watching) == "watch" && !c.watching && c.endpoint.Info.Serves("list") {
		c.warn(c.endpoint.Info.Versions[c.endpoint.Version].Deprecated)
		return c.refusedVerb() // a list has the same route
	}
	if slices.ContainsFunc(verbs, c.endpoint.Info.Serves) {
		return c.notSupported()
	}
	return notFound()
}

// prepare makes the checks that all verbs share, in the order of a real server: the media type of a
// patch, the media types of the route, which only built-in kinds have, the deprecated version, the
// type of a patch, the media type of the answer.
func (c *call) prepare(streams bool) error {
	info := c.endpoint.Info
	if info.Native {
		if c.req.Method == http.MethodPatch && !isPatch(c.req) && (c.sub == nil || c.sub.Connect == nil) { // a connection may have any body
			return unsupportedPatch()
		}
		if !matchesRoute(c.header("Accept")) {
			types := []string{typeJSON, typeYAML, typeProtobuf}
			if streams {
				types = append(types, typeJSON+streamSuffix, typeProtobuf+streamSuffix)
			}
			return notAcceptableRoute(types...)
		}
	}
	c.warn(info.Versions[c.endpoint.Version].Deprecated)
	var err error
	if c.resource, err = c.api.collection(c.endpoint.Kind); err != nil {
		return err
	}
	if f := c.api.kindContext; f != nil && (c.sub != nil || !info.Stored()) {
		c.setContext(f(c.req.Context()))
	}
	c.version = c.endpoint.Version
	if c.sub != nil && c.sub.Body != nil {
		c.endpoint = (*endpoint)(c.sub.Body.Endpoints()[0])
	}
	if c.req.Method == http.MethodPatch && (c.sub == nil || c.sub.Connect == nil) {
		if c.buffers().patch.Type, err = c.patchType(); err != nil {
			return err
		}
	}
	return c.negotiateMedia()
}

// checkNames refuses a name that no object can have, and an empty namespace, as the storage of a real server does after the
// options and the body are read.
func (c *call) checkNames() error {
	if c.namespaced && c.namespace == "" {
		return meta.NewBadRequest("Namespace parameter required.")
	}
	if problems := validate.NameIsPathSegment(c.name, false); c.name != "" && problems != nil {
		return meta.NewBadRequest("Name parameter invalid: %q: %s", c.name, strings.Join(problems, ";"))
	}
	return c.resource.CheckKey(c.namespace, c.name)
}

// notSupported returns the error for a method that a path does not have.
func (c *call) notSupported() error {
	if c.endpoint.Info.Native {
		return methodNotAllowed()
	}
	return c.refusedVerb()
}

// refusedVerb returns the error for a verb that a route has and its storage does not.
func (c *call) refusedVerb() error {
	gr := c.groupResource()
	return meta.NewStatusError(http.StatusMethodNotAllowed, meta.ReasonMethodNotAllowed,
		&meta.StatusDetails{Group: gr.Group, Kind: gr.Resource},
		fmt.Sprintf("%s is not supported on resources of kind %q", c.verbName(c.name != "", c.watching), gr))
}
