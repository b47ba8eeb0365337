// Package migrate has the tests that docs/migrate.md shows: each line of another tool beside the line that replaces it here.
//
// Its tables of mistakes are run too. Each mistake is written once, as a function that returns nil if the mistake stays
// hidden. On the other tool it returns nil, and here the error that the page names.
package migrate
