// Package ownership reads and writes recorded scenarios: writes to one object, with the managedFields that upstream's field
// manager gave it after each write.
//
// The scenarios are in internal/managedfields/testdata. The tests of internal/managedfields replay them. The module
// internal/test/etcd/referee records them; see its README.
//
// A scenario is a block of lines. The first line names the kind. Each write is one line with the verb, the manager, the
// version, the subresource or "-", the second of the clock, and the document. The lines below it are the answer: the error, or
// the object if the write is an apply, and the managedFields:
//
//	Lease
//	update "m1" v1 - 1 {"metadata":{},"spec":{"strategy":"s"}}
//	  owner "m1" Update coordination.k8s.io/v1 - 1 {"f:spec":{"f:strategy":{}}}
//	apply "m2" v1 - 2 {"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"strategy":"t"}}
//	  error 409 "Apply failed with 1 conflict: conflict with \"m1\" using coordination.k8s.io/v1: .spec.strategy"
//
// After an error the object is as it was.
package ownership
