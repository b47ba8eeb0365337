package apitest

import (
	"cmp"
	"net/http"

	"github.com/kubecoord/kubecoord/store/meta"
)

// conflictCause is the text of a real server for an update with an old
// resourceVersion.
const conflictCause = "the object has been modified; please apply your changes to the latest version and try again"

// complete returns a Status as an error. Empty fields get the values that a real server
// uses for the request (upstream: apimachinery, api/errors).
func complete(s meta.Status, r Request) error {
	usual := usualStatus(int(s.Code), r)
	s.Status = cmp.Or(s.Status, usual.Status)
	s.Reason = cmp.Or(s.Reason, usual.Reason)
	s.Message = cmp.Or(s.Message, usual.Message)
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
		details.RetryAfterSeconds = 1
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
