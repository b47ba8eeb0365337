// Package electiontest runs elections in virtual time. The contenders may come from
// any version of a client library: modules that cannot be in one build share these
// scenarios. The server with its Coordinator is in the process of the test.
package electiontest
