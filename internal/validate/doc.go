// Package validate holds the rules Kubernetes has for names, keys, values and addresses: pure functions which return what
// is wrong with a value, as the texts a server puts behind "Invalid value: …".
//
// Every rule returns nil when nothing is wrong, and allocates only when something is. A field path, the value shown and
// the kind of error are the caller's business, and so is whether an empty value is allowed at all: most rules refuse it
// with the text of their pattern.
//
// Length limits count bytes, but their texts do not agree, and upstream's do not either: rules of apimachinery's
// util/validation (names, config keys) say "characters", those of its api/validate/content (labels, qualified names) say
// "bytes". All texts were compared with version 0.37.2.
package validate
