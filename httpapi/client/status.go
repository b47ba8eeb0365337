package client

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// noAnswer is the error of a request without an answer, or with a part of one.
type noAnswer struct{ err *url.Error }

// Error returns the text of the error of net/http.
func (e *noAnswer) Error() string { return "client: " + e.err.Error() }

// Unwrap returns the error of net/http.
func (e *noAnswer) Unwrap() error { return e.err }

// Temporary reports whether a later request may succeed. It may not if the two ends do not agree
// about TLS.
func (e *noAnswer) Temporary() bool {
	_, unknown := errors.AsType[*tls.CertificateVerificationError](e.err)
	op, ok := errors.AsType[*net.OpError](e.err)
	alert := ok && op.Op == "remote error" // of package crypto/tls
	return !unknown && !alert && !errors.Is(e.err, http.ErrSchemeMismatch)
}

// asNoAnswer returns the error of http.Client.Do, or of the body of an answer.
func asNoAnswer(req *http.Request, err error) error {
	e, ok := errors.AsType[*url.Error](err)
	if !ok {
		method := req.Method[:1] + string(bytes.ToLower([]byte(req.Method[1:]))) // as net/http
		e = &url.Error{Op: method, URL: req.URL.Redacted(), Err: err}
	}
	return &noAnswer{e}
}

// isTemporary reports whether a later read may succeed.
func isTemporary(err error) bool {
	if e, ok := errors.AsType[*meta.StatusError](err); ok {
		return e.Status.Code == http.StatusTooManyRequests || e.Status.Code >= http.StatusInternalServerError
	}
	e, ok := errors.AsType[*noAnswer](err)
	return ok && e.Temporary()
}

// statusError returns the error of an answer with a code other than 2xx.
func statusError(resp *http.Response, body []byte) error {
	e := &meta.StatusError{}
	if json.Unmarshal(body, &e.Status) != nil || e.Status.Kind != "Status" || e.Status.Status != meta.StatusFailure {
		e = unexplained(resp, body)
	}
	if e.Status.Code == 0 {
		e.Status.Code = int32(resp.StatusCode)
	}
	if after, ok := retryAfter(resp); ok {
		if e.Status.Details == nil {
			e.Status.Details = &meta.StatusDetails{}
		}
		e.Status.Details.RetryAfterSeconds = int32(after / time.Second)
	}
	return asExpired(e)
}

// retryAfterSeconds returns how long the server asks to wait after an error.
func retryAfterSeconds(err error) time.Duration {
	if e, ok := errors.AsType[*meta.StatusError](err); ok && e.Status.Details != nil {
		return time.Duration(min(max(e.Status.Details.RetryAfterSeconds, 0), maxRetryAfter)) * time.Second
	}
	return 0
}

// asExpired gives a 410 its present reason. Older servers send another one.
func asExpired(e *meta.StatusError) *meta.StatusError {
	if e.Status.Code == http.StatusGone {
		e.Status.Reason = meta.ReasonExpired
	}
	return e
}

// unexplained returns the error of an answer without a Status. It may come from a proxy. The
// reasons are those of upstream (apimachinery, errors.NewGenericServerResponse).
func unexplained(resp *http.Response, body []byte) *meta.StatusError {
	reason := map[int]meta.Reason{
		http.StatusBadRequest: meta.ReasonBadRequest, http.StatusUnauthorized: meta.ReasonUnauthorized,
		http.StatusForbidden: meta.ReasonForbidden, http.StatusNotFound: meta.ReasonNotFound,
		http.StatusMethodNotAllowed: meta.ReasonMethodNotAllowed, http.StatusNotAcceptable: meta.ReasonNotAcceptable,
		http.StatusConflict: meta.ReasonConflict, http.StatusGone: meta.ReasonExpired,
		http.StatusUnsupportedMediaType: meta.ReasonUnsupportedMediaType, http.StatusUnprocessableEntity: meta.ReasonInvalid,
		http.StatusTooManyRequests: meta.ReasonTooManyRequests, http.StatusServiceUnavailable: meta.ReasonServiceUnavailable,
		http.StatusGatewayTimeout: meta.ReasonTimeout, http.StatusRequestEntityTooLarge: meta.ReasonRequestEntityTooLarge,
	}[resp.StatusCode]
	if reason == "" && resp.StatusCode >= http.StatusInternalServerError {
		reason = meta.ReasonInternalError
	}
	if reason == meta.ReasonConflict && resp.Request != nil && resp.Request.Method == http.MethodPost {
		reason = meta.ReasonAlreadyExists
	}
	text := ""
	const most = 2 << 10
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media == "text/plain" || media == "" {
		text = ": " + string(bytes.TrimSpace(body[:min(len(body), most)]))
	}
	return meta.NewStatusError(resp.StatusCode, reason, nil,
		fmt.Sprintf("the server answered %s without a Status%s", resp.Status, text))
}
