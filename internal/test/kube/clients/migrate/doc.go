// Package migrate has the code that docs/migrate.md shows, with the code of the other tool that it replaces.
//
// Its tables of mistakes are run too. Each mistake is written once, as a function that returns nil if the mistake stays
// hidden. On the other tool it returns nil, and here the error that the page names.
package migrate
