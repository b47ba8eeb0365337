// Package consistency checks in tests that the server answers correctly. An API is an apitest.API that records
// each answer and each watch event, with the versions that the store had when the request came and when it was answered.
// Report compares the record with the changes of the store:
//
//   - Writes: an answered write is in the history once and as the answer says. A refused write and a dry run made no
//     change. Each change replaces the state directly before it.
//   - Reads: a get or a list without a resourceVersion has a version that the store had while the request ran. Other gets
//     have a version that their parameters allow. The items of lists are not compared.
//   - Watches: events begin where the request asked for, are in order and complete up to the last event or bookmark, and
//     have the right type. Of the object it compares name, uid and version.
//
// The recorder runs below the faults of apitest: it records each answer of the server, even if a fault then drops it.
package consistency
