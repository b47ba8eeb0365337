// Package scheme makes kinds of the Go types that are registered in a runtime.Scheme: of client-go's scheme, with all built-in
// kinds, and of the scheme of a controller, with its own types.
//
//	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
//	api := httpapi.New(store.New(store.Options{}), httpapi.Options{Kinds: kinds})
//
// # Built-in kinds
//
// [Kinds] returns the kinds that a kube-apiserver serves by default and that the scheme has. Lease, LeaseCandidate and Endpoints are kinds
// of the root module; package crd has CustomResourceDefinition. An object is a value of its Go type of k8s.io/api from the body of a
// request to the watcher, so its members, and the errors about them, are of the version that the program links. Defaults, list types, merge
// keys, selectable fields, generations, name rules, columns and subresources are a real server's.
//
// What a real server does outside of the type and its strategy is not done:
//
//   - Nothing is allocated: cluster IPs and ports of services, which package cluster allocates, and Secrets with tokens of service accounts.
//   - There is no admission: a namespace need not exist, quotas and limits have no effect, pods get no service account,
//     priority or tolerations, classes are not chosen, webhooks and admission policies are stored and not called.
//   - No controller runs: nothing is scheduled, bound, scaled or collected.
//   - No kubelet runs: a deleted Pod that has a node stays until a deletion with a grace period of 0. A Pod that goes at once is
//     terminating for 1.5 ms if somebody watches it, as long as a real server needs between its two writes.
//   - A deleted Namespace stays in phase Terminating until its finalizer is removed through namespaces/finalize, as on a
//     server without the namespace controller. Its objects stay.
//   - The reviews of authentication and authorization, and serviceaccounts/token, are not among the kinds: [Reviews] returns them.
//     Package cluster serves them, and makes evictions obey PodDisruptionBudgets.
//   - Requests for a node, a pod or a service are not passed on: proxy, log, exec, attach and portforward have upstream's answers as
//     far as nobody has to be asked. Package cluster passes them on. A ComponentStatus says that the storage works, and that there
//     is no scheduler and no controller manager.
//
// Built-in kinds are made once per process and shared by all servers: 31 ms for the first one (BenchmarkFirstStart, two cores),
// 0.1 ms for each further server. A test binary with client-go's scheme, httpapi and this package takes 43 MB on disk.
//
// # A controller's own types
//
// Types of other modules than Kubernetes' own are custom resources: they are served in JSON and YAML only, and bodies must name apiVersion
// and kind. The Go type gives the members and their types. What kubebuilder's markers say (list types, defaults, patterns, columns, printed
// names, rules) is not in a Go type: package crd reads it from the CustomResourceDefinition. So use this package for quick tests of a type,
// and package crd for a server that must refuse what a real server refuses. [Options] sets what is in neither: plural, short names, scope.
package scheme
