// Package paging tests that the pages of a list are one state, also with
// concurrent writes.
package paging
