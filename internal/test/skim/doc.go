// Package skim reads the values that identify an encoded object, list, Table, error
// or watch event, in JSON or protobuf. It stops after the last of these values. A document
// may be cut off, so a recorder can use it on the beginning of an answer.
//
// Strings are not unescaped, because the values have no characters that need escapes.
package skim
