// Package contenders tests that real client-go electors and Contenders of package
// lease share one Lease. Electors reach it through the API, Contenders in the
// process of the server or through the API. All tests run in virtual time.
package contenders
