// Package selector parses the three selectors of a Kubernetes list or watch and matches objects against them: Labels
// (labelSelector), Fields (fieldSelector) and Shards (shardSelector).
//
// A selector is a value. Its zero value selects every object. It never changes after parsing, so any number of goroutines
// may use it. Matching does not allocate. Parsing takes time and memory in proportion to the text and refuses deep nesting.
//
// The errors of ParseLabels, ParseFields and Fields.Check have the text of the 400 answer of a Kubernetes 1.37 server.
// The errors of ParseShards have the text of its 500 answer, except for syntax errors, which name the wrong character.
// No error has a type or a sentinel.
package selector
