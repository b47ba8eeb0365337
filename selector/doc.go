// Package selector parses the three selectors of a Kubernetes list or watch and matches objects against them: Labels
// (labelSelector), Fields (fieldSelector) and Shards (shardSelector).
//
// A selector is a value. Its zero value selects every object. It never changes after parsing, so any number of goroutines
// may use it. Matching does not allocate. Parsing takes time and memory in proportion to the text and refuses deep nesting.
// String returns a canonical text that parses to the same selector.
//
// The errors of ParseLabels, ParseFields and Fields.Check have the text of the 400 answer of a Kubernetes 1.37 server.
// Those of ParseShards have the text of its 500 answer, except for syntax errors, which name the character that is wrong.
// No error has a type or a sentinel.
//
// Package httpapi knows the query parameters, status codes and Warning headers. Package store and the packages of the
// kinds know which fields of a kind can be selected, and their values.
package selector
