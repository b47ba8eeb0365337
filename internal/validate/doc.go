// Package validate holds the rules of Kubernetes for names, keys, values and
// addresses: pure functions that return the problems of a value, as a server words
// them behind "Invalid value: …".
//
// Every rule returns nil for a valid value, and allocates only for problems. The
// caller adds the field path, the value and the kind of error.
//
// Length limits count bytes. As upstream, the texts of apimachinery's util/validation
// (names, config keys) say "characters", and the texts of api/validate/content (labels,
// qualified names) say "bytes". All texts were compared with version 0.37.2.
package validate
