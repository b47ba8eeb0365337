package httpapi

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/meta"
)

// dispatch answers a request for what its path names.
func (c *call) dispatch(t target) {
	switch t.kind {
	case rootPath:
		c.paths()
	case healthPath:
		c.health(t.text)
	case healthCheckPath:
		c.healthCheck(t.text)
	case versionPath:
		c.serverVersion()
	case openAPIV2Path:
		c.openAPI(c.api.openAPI.v2())
	case openAPIIndexPath:
		c.openAPIIndex(c.api.openAPI.v3().own)
	case openAPIPath:
		c.openAPIV3(t.text)
	case coreVersionsPath:
		c.legacyVersions()
	case groupsPath:
		c.groupListOrAggregated()
	case groupsSlashPath:
		c.groupList()
	case groupPath:
		c.groupDocument(t.group, t.extra)
	case resourcesPath:
		c.resourceList(t.version)
	case namespacePath:
		c.namespaceObject(t.name)
	case resourcePath:
		c.endpoint, c.resourceName = t.endpoint, t.resourceName
		c.resourceRequest()
	case unknownResource:
		c.fail(notFound())
	case unknownPath:
		c.unknownPath()
	}
}

// resourceRequest answers a request for a resource that is served, unless it has no
// such path. Objects of all namespaces can be listed and watched by the path
// without a namespace. Other methods on that path find nothing if the resource is
// custom, as nothing is routed there; the built-in kinds have the path, without
// these methods.
func (c *call) resourceRequest() {
	info := c.endpoint.info
	status := c.subresource == statusSubresource && info.Status
	namespacedPathOfClusterKind := c.namespaced && info.ClusterScoped
	clusterPathOfNamespacedKind := !c.namespaced && !info.ClusterScoped
	switch {
	case info.Native && (namespacedPathOfClusterKind || c.trailing || c.subresource != "" && !status || clusterPathOfNamespacedKind && c.name != ""):
		c.fail(notFound())
	case namespacedPathOfClusterKind, clusterPathOfNamespacedKind && !info.Native && !c.readsMany():
		c.unknownPath()
	case c.subresource != "" && !status:
		c.fail(meta.NewNotFound(c.groupResource(), c.name))
	default:
		c.verb(status)
	}
}

// readsMany reports whether the request is a list or a watch.
func (c *call) readsMany() bool {
	verb := c.verbName(c.name != "", c.watching)
	return verb == "list" || verb == "watch"
}

// verb hands the request to the file named after what it does. status limits it to
// what the status of an object can be asked for.
func (c *call) verb(status bool) {
	custom := !c.endpoint.info.Native
	inScope := c.namespaced != c.endpoint.info.ClusterScoped && !status
	one := c.name != "" && (!c.watching || status)
	switch method := c.req.Method; {
	case one && method == http.MethodGet:
		c.run(false, (*call).get)
	case one && method == http.MethodPut:
		c.run(false, (*call).update)
	case one && method == http.MethodPatch:
		c.run(false, (*call).patch)
	case status:
		c.fail(c.notSupported())
	case c.watching && method == http.MethodGet:
		c.run(true, (*call).watch)
	case c.watching:
		c.fail(c.notSupported())
	case one && method == http.MethodDelete:
		c.run(false, (*call).delete)
	case method == http.MethodGet && c.boolParam("watch"):
		c.run(true, (*call).watch)
	case method == http.MethodGet:
		c.run(true, (*call).list)
	case inScope && method == http.MethodPost && (c.name == "" || custom): // which do not mind a name in the path
		c.run(false, (*call).create)
	case inScope && method == http.MethodDelete:
		c.run(false, (*call).deleteCollection)
	case custom && (method == http.MethodPut || method == http.MethodPatch):
		c.fail(meta.NewBadRequest("name must be provided"))
	default:
		c.fail(c.notSupported())
	}
}

// checkNames refuses the names in a path that no object can have, and a path
// to one object that leaves its namespace out.
func (c *call) checkNames() error {
	one := c.name != "" || c.req.Method == http.MethodDelete
	if c.namespaced && c.namespace == "" && one {
		return meta.NewBadRequest("Namespace parameter required.")
	}
	if problems := validate.PathSegmentName(c.name); c.name != "" && problems != nil {
		return meta.NewBadRequest("Name parameter invalid: %q: %s", c.name, strings.Join(problems, ";"))
	}
	if (c.namespace == "." || c.namespace == "..") && c.req.Method != http.MethodPost {
		// Not a Status: the storage of a real server refuses the key.
		return fmt.Errorf("invalid key: %q", strings.TrimSuffix("/"+c.endpoint.info.StoragePrefix+"/"+c.namespace+"/"+c.name, "/"))
	}
	return nil
}

// notSupported is the answer to a method that a path does not have.
func (c *call) notSupported() error {
	if c.endpoint.info.Native {
		return methodNotAllowed()
	}
	gr := c.groupResource()
	return meta.NewStatusError(http.StatusMethodNotAllowed, meta.ReasonMethodNotAllowed,
		&meta.StatusDetails{Group: gr.Group, Kind: gr.Resource},
		fmt.Sprintf("%s is not supported on resources of kind %q", c.verbName(c.name != "", c.watching), gr))
}

// run does what all verbs start with.
func (c *call) run(streams bool, verb func(*call) error) {
	if err := c.prepare(streams); err != nil {
		c.fail(err)
		return
	}
	if err := verb(c); err != nil {
		c.fail(err)
	}
}
