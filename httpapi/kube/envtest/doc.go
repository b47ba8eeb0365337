// Package envtest runs an API server for the suite of a controller, in the test's own process. It has the names, fields and
// methods of sigs.k8s.io/controller-runtime/pkg/envtest 0.25, so a suite changes over by its import line:
//
//	import "github.com/kubecoord/kubecoord/httpapi/kube/envtest"
//
// There is nothing to download, and no process to start. The environment variable KUBEBUILDER_ASSETS only says where kubectl is.
//
// # What is served
//
// The built-in kinds of client-go's scheme, the definitions of Environment.CRDs, CRDDirectoryPaths and CRDInstallOptions, and the
// definitions that clients create. Types in Environment.Scheme without a definition are not served, as on a real server. The server
// does what a bare kube-apiserver does, by package cluster: admission webhooks and policies, reviews, tokens, evictions that obey
// budgets, RBAC. Config belongs to the group system:masters; a user of AddUser has the rights of its roles. There is no
// controller: GarbageCollection and NamespaceDeletion start the two that there are.
//
// # Doors
//
// Config connects to a loopback port with TLS, client certificates and HTTP/2, also for other processes, by KubeConfig. With
// Environment.InProcess it has a transport without a socket, which works in a testing/synctest bubble, where time is virtual.
// Environment.API returns the API behind both, with all that package apitest can do: faults, a log of requests, forks, and
// verdicts, which list mistakes of the clients. In the log of requests, a user's name is the Client.
//
// # Flags
//
// Of the flags that ControlPlane.GetAPIServer().Configure() sets, these have an effect:
//
//   - authorization-mode: RBAC, AlwaysAllow; Node and AlwaysDeny allow nothing but to system:masters. Others are an error.
//   - enable-admission-plugins and disable-admission-plugins: the plugins of cluster.DefaultPlugins, which all run, ServiceAccount,
//     which envtest disables, and NodeRestriction, which runs if it is enabled.
//   - default-not-ready-toleration-seconds, default-unreachable-toleration-seconds.
//   - client-ca-file, token-auth-file, anonymous-auth.
//   - service-cluster-ip-range, service-node-port-range.
//   - feature-gates. An unknown gate is an error, as in a kube-apiserver: the suite would test something else.
//   - runtime-config: versions that are off by default, such as resource.k8s.io/v1beta2=true, or api/all=true. A version that this server
//     does not have is named on standard error. A kube-apiserver ends with a name that it does not know; the rest of the suite runs here.
//   - bind-address, secure-port.
//
// All others are accepted, if their values have the right type, and do nothing. With AttachControlPlaneOutput they are named on standard
// error.
//
// # Differences
//
//   - Start and Stop need not wait for a process, so their timeouts have no effect.
//   - Start stores valid definitions with their conditions set, without requests. The environments of a process share schemas, so the
//     schemas in Environment.CRDs must not be changed after Start.
//   - If Environment.TB is nil, Stop returns what a fault or a verdict would report to the test as a failure.
//   - Certificates are valid from 1999, because the time of a synctest bubble begins in 2000.
package envtest
