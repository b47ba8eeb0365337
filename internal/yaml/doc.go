// Package yaml converts between YAML and JSON as a Kubernetes API server does:
// with the rules of sigs.k8s.io/yaml v1.6.0 over go.yaml.in/yaml/v2, that is
// YAML 1.1. Texts and lines of errors are those of v2.
//
// [ToJSON] and [FromJSON] serve the HTTP API. [Documents] and [Encode] serve
// fixtures, which hold several documents in one stream.
//
// # Differences
//
// Where upstream depends on the order of a Go map, ToJSON does not: it visits
// keys in the order of their names in JSON. The order of keys that FromJSON
// writes is v2's natural order. That order has cycles (a10 < a1b < a2 < a10),
// and keys of a cycle come out in any order, as they do upstream.
//
// # Limits
//
// Collections nest up to 10000 deep, and aliases may make a document larger only
// by the ratio that v2 allows. v2 counts nodes and not bytes, so a long text can
// still be repeated without bound, as a value and in the errors about duplicate
// keys. Therefore aliases may add at most 16 MiB of text here. This is measured
// with go.yaml.in/yaml/v3, which shows the aliases of a document before they are
// followed. v3 also reads the two tokens after a document. A mistake in them makes
// it refuse a document that v2 reads; such a document is refused here too, unless
// it is so small that its aliases cannot matter.
//
// v2 compares each %TAG directive with all before it, so a stream may have 100.
package yaml
