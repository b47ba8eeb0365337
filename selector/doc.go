// Package selector reads the three selectors of a Kubernetes list or watch and decides which objects they take: Labels
// (labelSelector), Fields (fieldSelector) and Shards (shardSelector).
//
// The three are values. Their zero value selects everything, they never change once parsed, and any number of goroutines
// may use one. Matching allocates nothing; parsing costs time and memory in proportion to the text, and refuses what is
// nested too deep. String gives a canonical text which parses to the same selector.
//
// An error of ParseLabels, ParseFields and Fields.Check is, word for word, the message of the answer 400 a Kubernetes 1.37
// server gives; one of ParseShards is that of its answer 500. The messages say all there is: no sentinels, no types.
//
// Not here: the names of query parameters, status codes and Warning headers (package httpapi), which fields a kind can be
// selected by and how their values are read from an object (package store and the packages of the kinds), and the
// selectors inside of objects, which none of the kinds served here has.
package selector
