package store

import (
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Errors to compare with errors.Is. The errors themselves are *meta.StatusError
// and carry the Status that a server answers with.
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
var ErrClosed = registry.ErrClosed
