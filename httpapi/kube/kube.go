// Package kube reads and writes objects in a store, or on a server, as values of the Go types of Kubernetes' modules. Package scheme makes
// kinds of the types in a runtime.Scheme, package crd makes kinds of CustomResourceDefinitions, and package cluster makes an API server
// with both. Packages envtest and assets stand in for the envtest of controller-runtime. The folder is a module of its own, so that the
// root module requires no k8s.io/* module.
package kube
