package apitest

import (
	"errors"
	"net/http"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The functions here return what Fault.Answer and Tear.Error take. They leave
// most of the Status empty, to be filled in for each request with the words of a
// real server.

// Conflict returns a 409: for a create that the object exists already, for all
// else that it has been modified.
func Conflict() meta.Status { return meta.Status{Code: http.StatusConflict} }

// TooManyRequests returns a 429 with the header Retry-After.
func TooManyRequests(retryAfterSeconds int32) meta.Status {
	return meta.Status{Code: http.StatusTooManyRequests, Details: &meta.StatusDetails{RetryAfterSeconds: retryAfterSeconds}}
}

// InternalError returns a 500 with a cause.
func InternalError(cause string) meta.Status {
	return meta.NewInternalError(errors.New(cause)).Status
}

// Unavailable returns a 503.
func Unavailable() meta.Status { return meta.Status{Code: http.StatusServiceUnavailable} }

// GatewayTimeout returns a 504, which leaves open whether the request was
// carried out. It was not.
func GatewayTimeout() meta.Status { return meta.Status{Code: http.StatusGatewayTimeout} }

// Expired returns a 410: the version that was asked for is gone.
func Expired() meta.Status { return meta.Status{Code: http.StatusGone} }

// conflictCause is what a real server says of an update that came too late.
const conflictCause = "the object has been modified; please apply your changes to the latest version and try again"

// fill returns the error of a Status, with what it leaves out as a real server
// would say it of the request (upstream: apimachinery, api/errors).
func fill(s meta.Status, r Request) error {
	usual := usualStatus(int(s.Code), r)
	if s.Status == "" {
		s.Status = usual.Status
	}
	if s.Reason == "" {
		s.Reason = usual.Reason
	}
	if s.Message == "" {
		s.Message = usual.Message
	}
	switch given := s.Details; {
	case given == nil:
		s.Details = usual.Details
	case usual.Details != nil && given.Name == "" && given.Kind == "" && given.Causes == nil:
		details := *usual.Details
		details.RetryAfterSeconds = given.RetryAfterSeconds
		s.Details = &details
	}
	return &meta.StatusError{Status: s}
}

func usualStatus(code int, r Request) meta.Status {
	gr := meta.GroupResource{Group: r.Group, Resource: r.Resource}
	details := &meta.StatusDetails{Name: r.Name, Group: r.Group, Kind: r.Resource}
	plain := func(reason meta.Reason, message string) meta.Status {
		return meta.NewStatusError(code, reason, details, message).Status
	}
	switch {
	case code < 400:
		return meta.Status{Status: meta.StatusSuccess}
	case code == http.StatusBadRequest:
		return plain(meta.ReasonBadRequest, "the server rejected our request for an unknown reason")
	case code == http.StatusUnauthorized:
		return plain(meta.ReasonUnauthorized, "the server has asked for the client to provide credentials")
	case code == http.StatusForbidden:
		return plain(meta.ReasonForbidden, "forbidden")
	case code == http.StatusNotFound:
		return meta.NewNotFound(gr, r.Name).Status
	case code == http.StatusConflict && r.Verb == "create":
		return meta.NewAlreadyExists(gr, r.Name).Status
	case code == http.StatusConflict:
		return meta.NewConflict(gr, r.Name, conflictCause).Status
	case code == http.StatusGone:
		return meta.NewExpired("The resourceVersion for the provided " + r.Verb + " is too old.").Status
	case code == http.StatusTooManyRequests:
		return plain(meta.ReasonTooManyRequests, "the server has received too many requests and has asked us to try again later")
	case code == http.StatusInternalServerError:
		return plain(meta.ReasonInternalError, "Internal error occurred: a fault")
	case code == http.StatusServiceUnavailable:
		return plain(meta.ReasonServiceUnavailable, "the server is currently unable to handle the request")
	case code == http.StatusGatewayTimeout:
		return plain(meta.ReasonTimeout, "the server was unable to return a response in the time allotted, but may still be processing the request")
	}
	return plain("", http.StatusText(code))
}
