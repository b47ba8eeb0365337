// Package consistency checks in tests that the server answers any client correctly. An API is an apitest.API that records each
// answer and each watch event. Report turns the record into operations of package exact, and checks them with the history of the
// store by the rules there. Of a list it knows the version only, and of an event the name, uid and version.
//
// The recorder runs below the faults of apitest: it records each answer of the server, even if a fault then drops it.
package consistency
