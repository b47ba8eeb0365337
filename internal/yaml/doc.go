// Package yaml converts between YAML and JSON as a Kubernetes API server does: by the
// rules of sigs.k8s.io/yaml v1.6.0 over go.yaml.in/yaml/v2, which reads YAML 1.1. Errors
// have the texts and line numbers of v2.
//
// [ToJSON] and [FromJSON] serve the HTTP API. [Documents] and [Encode] serve
// fixtures, which hold several documents in one stream.
//
// It does not call sigs.k8s.io/yaml, which would save 80 lines of ToJSON: with two keys of one name, such as 1 and "1", or with
// several faults, the result would depend on the order of a Go map, and its texts on the version of encoding/json.
//
// # Differences
//
// Where upstream follows the order of a Go map, ToJSON visits keys in the order of their
// names in JSON. FromJSON writes keys in v2's natural order. That order has cycles
// (a10 < a1b < a2 < a10); keys of a cycle may come in any order, as upstream.
//
// # Limits
//
// v2 limits the depth of collections to 10000, and the number of nodes that aliases may
// add. It does not count bytes, so aliases could repeat a long text without limit, as a
// value and in the errors about duplicate keys. Here aliases may add at most 16 MiB of
// text. go.yaml.in/yaml/v3 measures it, because v3 shows aliases before it follows them.
//
// v3 also reads two tokens after a document, and refuses a document that v2 reads if
// they are wrong. Such a document is refused here too, unless it is so small that its
// aliases cannot matter.
//
// FromJSON writes at most 8 MiB of spaces before the lines of a document.
//
// A stream may have 100 %TAG directives, because v2 compares each with all before it.
package yaml
