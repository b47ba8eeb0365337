// Package crd makes kinds of CustomResourceDefinitions, by the packages of k8s.io/apiextensions-apiserver that a real server
// uses: a definition is validated as a create validates it, and objects are validated by its schema, list types, embedded
// metadata and CEL rules with the texts of a real server.
//
// [Parse], [Read] and [Kinds] return kinds for a store or for httpapi.Options.Kinds. They return all kinds or an error, which
// names the definition, the field and the rule.
//
// A kind is cheap until it is used: validators and CEL programs are compiled by the first write that needs them, once for
// all stores that share the kind.
package crd
