package meta

import (
	"errors"
	"fmt"
	"net/http"
)

// Reason is the machine-readable cause of a failure. A Reason is an error, so that
// errors.Is(err, meta.ReasonNotFound) reports whether err has a Status with that Reason.
type Reason string

// The reasons of this API (API reference, "Status").
const (
	ReasonBadRequest            Reason = "BadRequest"
	ReasonUnauthorized          Reason = "Unauthorized"
	ReasonForbidden             Reason = "Forbidden"
	ReasonNotFound              Reason = "NotFound"
	ReasonMethodNotAllowed      Reason = "MethodNotAllowed"
	ReasonNotAcceptable         Reason = "NotAcceptable"
	ReasonAlreadyExists         Reason = "AlreadyExists"
	ReasonConflict              Reason = "Conflict"
	ReasonExpired               Reason = "Expired"
	ReasonRequestEntityTooLarge Reason = "RequestEntityTooLarge"
	ReasonUnsupportedMediaType  Reason = "UnsupportedMediaType"
	ReasonInvalid               Reason = "Invalid"
	ReasonInternalError         Reason = "InternalError"
	ReasonTimeout               Reason = "Timeout"
)

// Reasons of faults that a test sets. A store on etcd that is not ready answers ReasonTooManyRequests too.
const (
	ReasonTooManyRequests    Reason = "TooManyRequests"
	ReasonServiceUnavailable Reason = "ServiceUnavailable"
)

// Error returns the reason.
func (r Reason) Error() string { return string(r) }

// Status is the answer to a request that failed, or to a deletion (API reference, "Status").
type Status struct {
	TypeMeta `json:",inline"`
	ListMeta `json:"metadata" protobuf:"1"`
	// Status is "Success" or "Failure".
	Status  string         `json:"status,omitempty" protobuf:"2"`
	Message string         `json:"message,omitempty" protobuf:"3"`
	Reason  Reason         `json:"reason,omitempty" protobuf:"4"`
	Details *StatusDetails `json:"details,omitempty" protobuf:"5"`
	// Code is the HTTP status code. Some answers have none.
	Code int32 `json:"code,omitempty" protobuf:"6"`
}

// The values of Status.Status.
const (
	StatusSuccess = "Success"
	StatusFailure = "Failure"
)

// StatusDetails names the object of a Status.
type StatusDetails struct {
	Name  string `json:"name,omitempty" protobuf:"1"`
	Group string `json:"group,omitempty" protobuf:"2"`
	// Kind is the plural of the resource in most answers, the kind in some.
	Kind   string        `json:"kind,omitempty" protobuf:"3"`
	UID    UID           `json:"uid,omitempty" protobuf:"6"`
	Causes []StatusCause `json:"causes,omitempty" protobuf:"4"`
	// RetryAfterSeconds also becomes the header Retry-After.
	RetryAfterSeconds int32 `json:"retryAfterSeconds,omitempty" protobuf:"5"`
}

// StatusCause is one problem among several.
type StatusCause struct {
	Type    string `json:"reason,omitempty" protobuf:"1"`
	Message string `json:"message,omitempty" protobuf:"2"`
	Field   string `json:"field,omitempty" protobuf:"3"`
}

// StatusError is an error with a Status. Use errors.As to get it, and errors.Is to compare
// its Reason.
type StatusError struct {
	Status Status
}

// Error returns the message of the Status.
func (e *StatusError) Error() string { return e.Status.Message }

// Is reports whether target is the Reason of the Status.
func (e *StatusError) Is(target error) bool {
	r, ok := target.(Reason)
	return ok && r == e.Status.Reason
}

// NewStatusError returns a failure. code is the HTTP status code; details may be nil.
func NewStatusError(code int, reason Reason, details *StatusDetails, message string) *StatusError {
	return &StatusError{Status{
		TypeMeta: TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   StatusFailure, Code: int32(code), Reason: reason, Details: details, Message: message,
	}}
}

// StatusOf returns the Status of an error. For an error without one it is a 500 with the
// text and no reason, as upstream answers unexpected errors.
func StatusOf(err error) *Status {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return &e.Status
	}
	return &NewStatusError(http.StatusInternalServerError, "", nil, err.Error()).Status
}

// NewBadRequest returns a 400.
func NewBadRequest(format string, args ...any) *StatusError {
	return NewStatusError(http.StatusBadRequest, ReasonBadRequest, nil, fmt.Sprintf(format, args...))
}

// NewNotFound returns the 404 for a named object.
func NewNotFound(gr GroupResource, name string) *StatusError {
	return NewStatusError(http.StatusNotFound, ReasonNotFound, detailsOf(gr, name), fmt.Sprintf("%s %q not found", gr, name))
}

// NewAlreadyExists returns the 409 for a name that is taken.
func NewAlreadyExists(gr GroupResource, name string) *StatusError {
	return NewStatusError(http.StatusConflict, ReasonAlreadyExists, detailsOf(gr, name), fmt.Sprintf("%s %q already exists", gr, name))
}

// NewConflict returns the 409 for a failed precondition on a named object.
func NewConflict(gr GroupResource, name, cause string) *StatusError {
	return NewStatusError(http.StatusConflict, ReasonConflict, detailsOf(gr, name),
		fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", gr, name, cause))
}

// NewExpired returns the 410 for a resourceVersion that history no longer has.
func NewExpired(message string) *StatusError {
	return NewStatusError(http.StatusGone, ReasonExpired, nil, message)
}

// NewTimeout returns a 504. A client may try again after retryAfter seconds.
func NewTimeout(message string, retryAfter int32, causes ...StatusCause) *StatusError {
	return NewStatusError(http.StatusGatewayTimeout, ReasonTimeout,
		&StatusDetails{Causes: causes, RetryAfterSeconds: retryAfter}, "Timeout: "+message)
}

// NewInternalError returns a 500.
func NewInternalError(err error) *StatusError {
	return NewStatusError(http.StatusInternalServerError, ReasonInternalError,
		&StatusDetails{Causes: []StatusCause{{Message: err.Error()}}}, "Internal error occurred: "+err.Error())
}

func detailsOf(gr GroupResource, name string) *StatusDetails {
	return &StatusDetails{Name: name, Group: gr.Group, Kind: gr.Resource}
}
