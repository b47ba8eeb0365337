// Package crd makes kinds of CustomResourceDefinitions, by the packages of k8s.io/apiextensions-apiserver that a real server
// uses: a definition is validated as a create validates it, and objects are validated by its schema, list types, embedded
// metadata and CEL rules with the texts of a real server.
//
// [Parse], [Read] and [Kinds] return kinds for a store or for httpapi.Options.Kinds. They return all kinds or an error, which
// names the definition, the field and the rule.
//
// [Definitions] is the kind CustomResourceDefinition itself, and [Run] serves the kinds that its objects define, as a real
// server does: conditions, name conflicts, updates of the schema, and a deletion that takes the objects along. A definition in a
// group of which the API has kinds that are built into a real server, such as coordination.k8s.io, is established and has no effect.
// It calls conversion webhooks within time limits by the clock of the store, and as cluster.Options.Dial says. Other kinds with
// a conversion webhook are shared by all stores of the process, and call it over TCP, with time limits by the time of the machine.
//
// Known differences from a real server:
//
//   - The result of a conversion webhook is remembered for lists and watches, as a watch cache does, so the webhook is called less
//     often. A get and a deletion always ask it.
//   - The answer of a conversion webhook has a bound of 16 MiB.
//   - A fork calls conversion webhooks as the API that it is a fork of.
//   - Subresources and selectable fields are those of the stored version; columns and schemas are those of each version.
//   - A version of a definition in the group of built-in kinds, which has no effect there and here, is not in discovery and OpenAPI.
//   - The list kind is the kind and "List", whatever spec.names.listKind says.
//   - A server-side apply of a Scale works; on a real server of version 1.36 it fails with 500 if it is forced, or if nobody owns the replicas.
//
// While a conversion webhook is away, an object with owners in two versions cannot be applied in either, and any other write removes
// its managedFields: upstream has this mistake too, and clients must expect it.
//
// A kind is cheap until it is used: validators and CEL programs are compiled by the first write that needs them, once for
// all stores that share the kind.
package crd
