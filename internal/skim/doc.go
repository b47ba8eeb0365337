// Package skim finds what identifies an object at the head of its encoded form:
// of objects, lists, Tables, errors and the events of a watch, in JSON and
// protobuf. It reads no further than it must, minds nothing else, and makes do
// with a beginning: it is for those who look at answers as they pass by.
//
// Strings are not unescaped: the names that it is after need no escapes.
package skim
