// Package floors holds no code, only the test of the rules that the packages of this module follow when they import each
// other, and of what may be required from outside.
//
// Imports point down only: examples, httpapi, the kinds (lease, candidate, endpoints), store, watch and selector, internal.
// The rules stand as tables in floors_test.go. Whoever needs an import that they refuse changes the table in the same
// commit, and says there why the floor above was not the place.
package floors
