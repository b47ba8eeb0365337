// Package yaml turns YAML into JSON and JSON into YAML the way a Kubernetes API
// server does: with the YAML 1.1 of sigs.k8s.io/yaml v1.6.0, which stands on
// go.yaml.in/yaml/v2.
//
// # In
//
// [ToJSON] reads the first document of a stream. Unquoted y, n, yes, no, on
// and off are booleans, 010 is octal, 1_000 is a number, 1:30 and 2024-01-02
// are strings, << merges maps. Keys that are numbers or booleans become
// strings. Error texts name the line that upstream names, which is often one
// too low and is left out on the first line.
//
// The parser is the package's own. go.yaml.in/yaml/v3 reads two tokens further
// ahead than v2, so that it finds another mistake first, and it reports the
// line where the surrounding construct began instead of the line with the
// mistake; neither can be undone from its results.
//
// # Out
//
// [FromJSON] writes block style with two spaces, sequences at the level of
// their key, keys in v2's natural order (a2 before a10), plain text folded at
// 80 columns and everything beyond U+FFFF escaped.
//
// # Differences
//
// While a byte order mark happens to be at the start of upstream's read buffer,
// it skips the first character of each line; here byte order marks count at the
// start of the stream only. Where upstream depends on the order of a Go map, the
// last of several keys with the same name wins, and of several mistakes the
// first one is reported. Text that is not UTF-8, which only a YAML document can
// hold, is not written as !!binary.
//
// # Limits
//
// Collections nest up to 10000 deep. Aliases may make a document larger by the
// ratio that v2 allows and, unlike there, by 16 MiB of text. No input makes the
// package panic; but for sorting, time and memory are linear in the input and
// these limits.
package yaml
