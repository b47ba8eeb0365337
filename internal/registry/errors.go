package registry

import "errors"

// ErrClosed ends a watch on a store that was closed.
var ErrClosed = errors.New("store: closed")

// conflictText is the cause of a conflict between two writers.
const conflictText = "the object has been modified; please apply your changes to the latest version and try again"
