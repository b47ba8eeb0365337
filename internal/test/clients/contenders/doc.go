// Package contenders tests that real client-go electors and Contenders of package
// lease share one Lease: the first reach it through the API, the second in the
// process of the server. All of it runs in virtual time.
package contenders
