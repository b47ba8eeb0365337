// Package consistency checks in tests that the server tells its clients the truth. An API is an apitest.API that records
// each answer and each watch event, with the versions that the store had when the request came and when it was answered.
// Report compares the record with what the store did:
//
//   - Writes: an answered write is in the history once and as the answer says. What was refused, or was a dry run, made no
//     change. No change replaces a state other than the one before it.
//   - Reads: a get or a list without a resourceVersion has a version that the store had while the request ran. Other gets
//     have a version that their parameters allow. The items of lists are not compared.
//   - Watches: events begin where the request asked for, are in order and complete up to the last event or bookmark, and
//     have the right type. Of the object it compares name, uid and version.
//
// The record is taken inside the faults of apitest: it holds what the server said, whether or not a fault let it through.
package consistency
