package apitest

import (
	"cmp"
	"net/http"

	"github.com/kubecoord/kubecoord/store/meta"
)

// complete returns a Status as an error. Empty fields get the values that a real server uses for the
// request (upstream: apimachinery, api/errors). exists reports whether there is an object to which a create is a conflict.
func complete(s meta.Status, r Request, exists bool) error {
	usual := usualStatus(int(s.Code), r, exists)
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

func usualStatus(code int, r Request, exists bool) meta.Status {
	const modified = "the object has been modified; please apply your changes to the latest version and try again"
	gr := meta.GroupResource{Group: r.Group, Resource: r.Resource}
	switch {
	case code < 400:
		return meta.Status{Status: meta.StatusSuccess}
	case code == http.StatusNotFound:
		return meta.NewNotFound(gr, r.Name).Status
	case code == http.StatusGone:
		return meta.NewExpired("The resourceVersion for the provided " + r.Verb + " is too old.").Status
	case code == http.StatusConflict && (r.Verb != "create" || r.Subresource != ""):
		return meta.NewConflict(gr, r.Name, modified).Status
	case code == http.StatusConflict && exists:
		return meta.NewAlreadyExists(gr, r.Name).Status
	case code == http.StatusConflict: // admission could not charge the quota (upstream: apiserver, admission/plugin/resourcequota)
		return meta.NewConflict(meta.GroupResource{Resource: "resourcequotas"}, "quota", modified).Status
	}
	details := &meta.StatusDetails{Name: r.Name, Group: r.Group, Kind: r.Resource}
	if code == http.StatusTooManyRequests {
		details.RetryAfterSeconds = 1
	}
	text := map[int]struct {
		reason  meta.Reason
		message string
	}{
		400: {meta.ReasonBadRequest, "the server rejected our request for an unknown reason"},
		401: {meta.ReasonUnauthorized, "the server has asked for the client to provide credentials"},
		403: {meta.ReasonForbidden, "forbidden"},
		429: {meta.ReasonTooManyRequests, "the server has received too many requests and has asked us to try again later"},
		500: {meta.ReasonInternalError, "Internal error occurred: a fault"},
		503: {meta.ReasonServiceUnavailable, "the server is currently unable to handle the request"},
		504: {meta.ReasonTimeout, "the server was unable to return a response in the time allotted, but may still be processing the request"},
	}[code]
	return meta.NewStatusError(code, text.reason, details, cmp.Or(text.message, http.StatusText(code))).Status
}

func (a *API) exists(r *Request) bool {
	if r.kind == nil {
		return false
	}
	in, err := a.st.Find(r.kind)
	return err == nil && in.Peek(r.Namespace, r.Name) != nil
}
