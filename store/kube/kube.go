// Package kube lets the Go types of Kubernetes' own modules work with a store: package scheme makes kinds of the types in a
// runtime.Scheme, package crd of CustomResourceDefinitions. It is a module of its own, so that the root module requires no
// k8s.io/* module.
package kube
