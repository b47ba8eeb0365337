// Package validate holds the rules of Kubernetes for names, keys, values and
// addresses: pure functions that return the problems of a value, as a server words
// them behind "Invalid value: …".
//
// Every rule returns nil for a valid value, and allocates only for problems. The
// caller adds the field path, the value and the kind of error. Most rules refuse
// an empty value with the text of their pattern.
//
// Length limits count bytes, but as upstream, texts differ: the rules of
// apimachinery's util/validation (names, config keys) say "characters", and those
// of api/validate/content (labels, qualified names) say "bytes". All texts were
// compared with version 0.37.2.
package validate
