package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// noAnswer is the error of a request without an answer of the API, or with a part of one.
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

// unsent reports whether no server can have seen the request.
func (e *noAnswer) unsent() bool {
	op, ok := errors.AsType[*net.OpError](e.err)
	return ok && op.Op == "dial" || !e.Temporary()
}

// asNoAnswer returns the error of http.Client.Do, or of the body of an answer.
func asNoAnswer(req *http.Request, err error) error {
	if own, ok := errors.AsType[*ended](context.Cause(req.Context())); ok {
		err = own
	}
	e, ok := errors.AsType[*url.Error](err)
	if !ok {
		method := req.Method[:1] + strings.ToLower(req.Method[1:]) // as net/http
		e = &url.Error{Op: method, URL: req.URL.Redacted(), Err: err}
	}
	return &noAnswer{e}
}

// notOfAPI is an answer that another program has given in place of the API, such as a proxy whose
// servers are gone. It decides nothing about an object.
type notOfAPI struct {
	status string // code and text
	body   string // its first bytes
	reason meta.Reason
}

// Error returns the code and the first bytes of the text.
func (e *notOfAPI) Error() string {
	return fmt.Sprintf("got %s, which is no answer of the API about the resource: %q", e.status, e.body)
}

// Is reports whether target is the reason of a Status without a resource. An admission webhook may
// forbid a write so.
func (e *notOfAPI) Is(target error) bool { return e.reason != "" && target == e.reason }

// asNotOfAPI returns the error of an answer that does not come from the API. The answer may repeat
// the credentials of the request, which stay out of errors.
func asNotOfAPI(resp *http.Response, body []byte, reason meta.Reason) error {
	text := string(body[:min(len(body), 64<<10)])
	if token := strings.TrimPrefix(resp.Request.Header.Get("Authorization"), "Bearer "); token != "" {
		text = strings.ReplaceAll(text, token, "[token]")
	}
	text = strings.TrimSpace(text)
	return asNoAnswer(resp.Request, &notOfAPI{
		status: cmp.Or(resp.Status, strconv.Itoa(resp.StatusCode)), body: text[:min(len(text), 200)], reason: reason,
	})
}

// isTemporary reports whether a later read may succeed.
func isTemporary(err error) bool {
	if e, ok := errors.AsType[*meta.StatusError](err); ok {
		return e.Status.Code == http.StatusTooManyRequests || e.Status.Code >= http.StatusInternalServerError
	}
	e, ok := errors.AsType[*noAnswer](err)
	return ok && e.Temporary()
}

// errorOfAnswer returns the error that an answer is, or nil.
//
// A real server names the resource in a 403 and a 404 about objects. A 404 without it comes from a
// path that is not served, or from a server that does not serve it yet.
func errorOfAnswer(resp *http.Response, body []byte) error {
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		if isJSON(resp) {
			return nil
		}
		return asNotOfAPI(resp, body, "")
	}
	e := &meta.StatusError{}
	isStatus := json.Unmarshal(body, &e.Status) == nil && e.Status.Kind == "Status" && e.Status.Status == meta.StatusFailure
	switch {
	case isStatus:
		e.Status.Code = cmp.Or(e.Status.Code, int32(resp.StatusCode))
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= http.StatusInternalServerError:
		e = unexplained(resp, body)
	default:
		return asNotOfAPI(resp, body, "")
	}
	if d := e.Status.Details; d == nil || d.Kind == "" {
		switch e.Status.Code {
		case http.StatusNotFound:
			return asNotOfAPI(resp, body, "")
		case http.StatusForbidden:
			return asNotOfAPI(resp, body, e.Status.Reason)
		}
	}
	if after, ok := retryAfter(resp); ok {
		if e.Status.Details == nil {
			e.Status.Details = &meta.StatusDetails{}
		}
		e.Status.Details.RetryAfterSeconds = int32(after / time.Second)
	}
	return asExpired(e)
}

// mediaType returns the type of a body, or "".
func mediaType(resp *http.Response) string {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return media
}

// isJSON reports whether a body may be JSON.
func isJSON(resp *http.Response) bool {
	media := mediaType(resp)
	return media == "" || media == "application/json"
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

// unexplained returns the error of a 429 or 5xx without a Status. It may come from a proxy. The
// reasons are upstream's (apimachinery, errors.NewGenericServerResponse).
func unexplained(resp *http.Response, body []byte) *meta.StatusError {
	reason := map[int]meta.Reason{
		http.StatusTooManyRequests: meta.ReasonTooManyRequests, http.StatusServiceUnavailable: meta.ReasonServiceUnavailable,
		http.StatusGatewayTimeout: meta.ReasonTimeout,
	}[resp.StatusCode]
	text := ""
	const most = 2 << 10
	if media := mediaType(resp); media == "text/plain" || media == "" {
		text = ": " + string(bytes.TrimSpace(body[:min(len(body), most)]))
	}
	return meta.NewStatusError(resp.StatusCode, cmp.Or(reason, meta.ReasonInternalError), nil,
		fmt.Sprintf("the server answered %s without a Status%s", resp.Status, text))
}
