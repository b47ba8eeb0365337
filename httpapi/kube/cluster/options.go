// Package cluster makes an API server of Kubernetes: all kinds, CustomResourceDefinitions, and what a server does beside keeping
// objects, which is namespaces, admission, reviews, tokens, and three controllers. Each of these is a field of Options, and off in the
// zero value.
//
// [New] returns a server in memory; [Options.API] the options of an API for a test or for a store on etcd.
//
// There is no scheduler, no kubelet, and no controller that makes Pods of a Deployment: kwok has these.
package cluster

import (
	"context"
	"net"
	"net/netip"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Options say what a server serves and does. The zero value serves all built-in kinds and CustomResourceDefinitions, with the kinds
// that these define, and does nothing beside keeping their objects.
type Options struct {
	// Serves, if not nil, reports whether a resource is served: of a built-in kind, or CustomResourceDefinitions. A kind of which one
	// version is served has all of them. Kinds that another option needs are served in any case.
	Serves func(schema.GroupVersionResource) bool
	// Versions, if not nil, reports whether a version is served of a built-in kind that a kube-apiserver serves with --runtime-config only,
	// such as DeviceClasses of resource.k8s.io/v1beta2. Such a kind is served in its other versions too.
	Versions func(schema.GroupVersionResource) bool
	// LeaseCandidates serves LeaseCandidates, in all their versions. A kube-apiserver has them with --runtime-config only.
	LeaseCandidates bool
	// Namespaces makes the namespaces default, kube-system, kube-public and kube-node-lease, and refuses objects in
	// namespaces that do not exist, or that are deleted, as the admission plugin NamespaceLifecycle.
	Namespaces bool
	// Service makes the service kubernetes in the namespace default, and with Advertise its Endpoints and its EndpointSlice.
	Service bool
	// Advertise is the address at which others reach the server, as --advertise-address. The zero value is the loopback, whose
	// address Endpoints must not have: a kube-apiserver that envtest starts has none.
	Advertise netip.Addr
	// Objects makes what a kube-apiserver makes when it starts: the PriorityClasses of the system, the FlowSchemas and
	// PriorityLevelConfigurations, which have no effect here and come back within a minute, the Lease of the server, which is renewed
	// every ten seconds, the ConfigMaps of kube-system, and an APIService for each group and version.
	Objects bool
	// ClientCA has the certificates of --client-ca-file in PEM. With Objects they are in the ConfigMap
	// extension-apiserver-authentication.
	ClientCA []byte
	// ServicePort is the port at which the server listens, the targetPort of the service. Zero means 6443.
	ServicePort int
	// Addresses allocates the cluster IPs, node ports and ports for health checks of services, as a kube-apiserver with the
	// MultiCIDRServiceAllocator: the ServiceCIDR kubernetes has the ranges, and each cluster IP is an IPAddress. Services that a fixture or
	// a restart brings keep what they have.
	Addresses bool
	// ServiceRanges are the ranges of cluster IPs: one, or one of each family, of which the first is the default. Nil means 10.0.0.0/24.
	// The service kubernetes has the first address.
	ServiceRanges []netip.Prefix
	// NodePorts is the range of node ports. The zero value means 30000-32767.
	NodePorts utilnet.PortRange
	// Flags are the flags of a server by their names, which /flagz shows.
	Flags map[string]string
	// FeatureGates turns feature gates of kube-apiserver on or off, as --feature-gates. A gate that is off takes its members from
	// built-in objects that are written, unless they had them before. Gates have no other effect here.
	FeatureGates map[string]bool
	// Webhooks calls the admission webhooks of the MutatingWebhookConfigurations and ValidatingWebhookConfigurations.
	Webhooks bool
	// Dial connects to admission webhooks, and to conversion webhooks. Nil means TCP. The address of
	// a service is its cluster IP if its writer set one, or the address of an endpoint in an EndpointSlice. Else Dial gets the name
	// NAME.NAMESPACE.svc:PORT, and without Dial the call fails. With Addresses each service has a cluster IP, which nothing routes:
	// it is not called.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Policies enforces ValidatingAdmissionPolicies and MutatingAdmissionPolicies.
	Policies bool
	// Plugins are the names of admission plugins that run, as the flag --enable-admission-plugins of kube-apiserver spells them, in any
	// order. NamespaceLifecycle runs with Namespaces also, and the plugins for webhooks and policies with Webhooks and Policies. See
	// [DefaultPlugins]; ServiceAccount and NodeRestriction are the others that there are.
	Plugins []string
	// NotReadySeconds and UnreachableSeconds are how long Pods tolerate a node that is not ready, or not reachable, by the plugin
	// DefaultTolerationSeconds. Nil means 300.
	NotReadySeconds, UnreachableSeconds *int64
	// Disruptions makes evictions obey PodDisruptionBudgets.
	Disruptions bool
	// Reviews answers TokenReviews, SubjectAccessReviews and their kin by the Authenticate and Authorize of the API, and
	// TokenRequests. Requests may have a token of a ServiceAccount, and may impersonate a user. Without Authenticate, a request
	// without such a token comes from an administrator, in the group system:masters.
	Reviews bool
	// Tokens say how tokens of ServiceAccounts are signed and checked.
	Tokens Tokens
	// RBAC authorizes requests by Roles, ClusterRoles and their bindings, in addition to Authorize. It makes the roles and
	// bindings of a new cluster, and refuses roles and bindings that give more than their writer has. Roles that aggregate others
	// have only the rules that are stored: admin, edit and view have none, because kube-controller-manager would fill them in.
	RBAC bool
	// GarbageCollection deletes objects whose owners are gone, as the garbage collector of kube-controller-manager.
	GarbageCollection bool
	// NamespaceDeletion deletes what is in a deleted namespace, and then the namespace, as the namespace controller of
	// kube-controller-manager.
	NamespaceDeletion bool
	// QuotaStatus counts what is used in a namespace, and writes the status of its ResourceQuotas, as the controller of
	// kube-controller-manager.
	QuotaStatus bool
	// PolicyStatus checks the types of the expressions of ValidatingAdmissionPolicies, and writes the warnings into their status, as the
	// controller of kube-controller-manager.
	PolicyStatus bool
}

// KubeAPIServer returns the Options of a kube-apiserver with nothing beside it, as envtest starts it, without RBAC.
func KubeAPIServer() Options {
	return Options{
		Plugins: DefaultPlugins(), Namespaces: true, Service: true, Objects: true, Addresses: true, Webhooks: true, Policies: true, Disruptions: true,
		Reviews: true,
	}
}

// WithControllers returns o with the controllers of kube-controller-manager that there are, of which a kube-apiserver alone has none:
// GarbageCollection, NamespaceDeletion, QuotaStatus and PolicyStatus.
func (o Options) WithControllers() Options {
	o.GarbageCollection, o.NamespaceDeletion, o.QuotaStatus, o.PolicyStatus = true, true, true, true
	return o
}
