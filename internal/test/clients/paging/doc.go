// Package paging tests that the pages of a list are one state, whatever is
// written while a client reads them.
package paging
