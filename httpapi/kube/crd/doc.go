// Package crd makes kinds of CustomResourceDefinitions, by the packages of k8s.io/apiextensions-apiserver that a real server
// uses: a definition is validated as a create validates it, and objects are validated by its schema, list types, embedded
// metadata and CEL rules with the texts of a real server.
//
// [Parse], [Read] and [Kinds] return kinds for a store or for httpapi.Options.Kinds. They return all kinds or an error, which
// names the definition, the field and the rule.
//
// [Definitions] is the kind CustomResourceDefinition itself, and [Run] serves the kinds that its objects define, as a real
// server does: conditions, name conflicts, updates of the schema, and a deletion that takes the objects along. A definition in a
// group for which the API has built-in kinds, such as coordination.k8s.io, is established and has no effect.
//
// The kinds of Run call conversion webhooks through cluster.Options.Dial, and the clock of the store ends the calls. A kind of Parse, Read
// or Kinds is shared by all stores of the process: it calls its webhook over TCP, and the clock of the machine ends the calls.
//
// Known differences from a real server:
//
//   - The result of a conversion webhook is remembered for lists and watches, as a watch cache does, so the webhook is called less
//     often. A get and a deletion always ask it.
//   - The answer of a conversion webhook must not be larger than 16 MiB.
//   - A fork calls conversion webhooks through the API from which it was forked.
//   - While a webhook fails, a list that selects by its results answers 429 at once. A real server first answers 500, or from its older cache.
//   - Discovery and OpenAPI do not have the versions of a definition in a group with built-in kinds. They have no effect on either server.
//   - Problems are in the order of their paths. A real server has the problems of the rules of one object in the order of the rules.
//
// While a conversion webhook cannot be reached, an object with owners in two versions cannot be applied in either, and any other write
// removes its managedFields: upstream has this mistake too, and clients must expect it.
//
// A kind is cheap until it is used: validators and CEL programs are compiled by the first write that needs them, once for
// all stores that share the kind.
package crd
