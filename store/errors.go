package store

import (
	"errors"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Errors to compare with errors.Is. The errors themselves are
// *meta.StatusError and carry the Status that a server answers with.
const (
	ErrNotFound      = meta.ReasonNotFound
	ErrAlreadyExists = meta.ReasonAlreadyExists
	ErrConflict      = meta.ReasonConflict
	ErrInvalid       = meta.ReasonInvalid
	ErrBadRequest    = meta.ReasonBadRequest
	ErrExpired       = meta.ReasonExpired
	ErrTimeout       = meta.ReasonTimeout
)

// ErrClosed ends a watch on a store that was closed.
var ErrClosed = errors.New("store: closed")

// conflictText is the cause of a conflict between two writers.
const conflictText = "the object has been modified; please apply your changes to the latest version and try again"
