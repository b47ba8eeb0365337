// Package skim reads the head of an encoded object, list, Table, error or watch
// event, in JSON or protobuf, that identifies it. It reads no more than it needs,
// and also the beginning of a document, so that a recorder can use it on answers in
// passing.
//
// Strings are not unescaped, as names need no escapes.
package skim
