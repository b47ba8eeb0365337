// Package exact checks the consistency of the API exactly. Concurrent clients write, read and watch Leases, and record when each
// operation began and ended and what it returned. Check compares the record with the history of the store. The resourceVersion is the
// witness: it says where in the history an operation took place, so the check is exact and takes linear time.
//
// The rules:
//
//   - Writes: a confirmed write is in the history once, and nothing else is. A write that ended without an answer is in it at most once.
//   - Order: if one operation ended before another began, the second one takes place after the first. Reads with a resourceVersion may
//     be older, but never older than they asked for.
//   - Reads: a get returns the state of one version, a list and all pages that follow it the state of the version that they name.
//   - Refusals: AlreadyExists, NotFound and Conflict are true at one version between the beginning and the end.
//   - Watches: the initial events are the state of one version, and the events are the filtered changes after it: in order, complete up
//     to the last event or bookmark, and with the right content. A 410 comes only if the change after the last one seen has left the
//     history.
//
// The clients use doors: the Go API, package httpapi/client, the transport without a socket, HTTP over a socket, a replica that lags,
// and a network that cuts connections. Stores on a backend are checked by the history of the backend, where versions have gaps and
// several changes may have one version.
package exact
