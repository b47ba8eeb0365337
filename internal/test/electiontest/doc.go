// Package electiontest plays elections in virtual time with contenders that any
// version of a client library makes: modules that cannot be in one build share
// the scenarios by way of it. The contenders reach a server with an Elector,
// all within the test; a Referee hears who leads.
package electiontest
