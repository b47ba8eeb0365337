// Package floors has no code, only tests of the module as a whole.
//
// Imports point down only: examples, httpapi, the kinds (lease, candidate, endpoints), store, watch and selector, internal.
// The tables in floors_test.go have the rules, and list the modules that go.mod may require. A commit that needs an import
// which a rule refuses changes the rule too, and its message says why. The other modules, except those below internal, import what
// users can import.
//
// Each exported name of a public package is used by an example, or defended_test.go says why it is exported. README.md,
// CONTRIBUTING.md and the pages in docs name only tests, files, functions and code that exist.
package floors
