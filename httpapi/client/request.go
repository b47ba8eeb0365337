package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxRepetitions is how often a request is repeated, as by client-go.
const maxRepetitions = 10

// Limits for the bodies of answers. A real server takes objects of 3 MiB at most, and adds
// managedFields.
const (
	maxObject = 16 << 20
	maxList   = 1 << 30
)

// request is a request to the server, which may be sent more than once.
type request struct {
	method      string
	path        string // below the address of a server, escaped
	query       url.Values
	contentType string
	body        []byte
	most        int64 // bytes of the answer
}

// read reports whether the request changes nothing.
func (r *request) read() bool { return r.method == http.MethodGet }

// send sends the request of an attempt. The caller closes the body of the answer. A 401 comes before
// anything is done, so it is sent again if the file of the token has another one by then.
func (a *attempt) send(r *request) (*http.Response, error) {
	for again := false; ; again = true {
		req, err := a.newRequest(r)
		if err != nil {
			return nil, err
		}
		resp, err := a.c.http.Do(req)
		if err != nil {
			return nil, asNoAnswer(req, err)
		}
		resp.Request = req // a transport of the user may not set it
		if resp.StatusCode != http.StatusUnauthorized || !a.c.token.refused(req.Header.Get("Authorization")) || again {
			return resp, nil
		}
		resp.Body.Close()
	}
}

func (a *attempt) newRequest(r *request) (*http.Request, error) {
	u := a.server.base.JoinPath(r.path)
	u.RawQuery = r.query.Encode()
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(a.ctx, r.method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if r.body != nil || r.method == http.MethodPatch { // the type of a patch also without a text
		req.Header.Set("Content-Type", r.contentType)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", a.c.userAgent)
	authorization, err := a.c.token.header()
	if err != nil {
		return nil, err
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	return req, nil
}

// do sends a request, repeats it where that is safe, and returns the body of the answer.
func (c *Client) do(ctx context.Context, r *request) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok && c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, afterTime(c.timeout))
		defer cancel()
	}
	for n := 0; ; n++ {
		data, resp, err := c.anyServer(ctx, r)
		if err == nil {
			return data, nil
		}
		wait, again := pauseBefore(r, resp, err)
		if !again || n == maxRepetitions || ctx.Err() != nil {
			return nil, err
		}
		if sleep(ctx, wait) != nil {
			return nil, endOf(ctx, err)
		}
	}
}

// anyServer sends a request until a server answers: to each once, as long as the ones before cannot
// have done a write. The error is a temporary one if one of them was.
func (c *Client) anyServer(ctx context.Context, r *request) (data []byte, resp *http.Response, err error) {
	for left := len(c.servers.all) - 1; ; left-- {
		within := time.Duration(0)
		if left > 0 || !r.read() {
			within = c.share(ctx)
		}
		var failed error
		data, resp, failed = c.exchange(ctx, r, within)
		if failed == nil {
			return data, resp, nil
		}
		if err == nil || resp != nil || !isTemporary(err) {
			err = failed
		}
		e, none := errors.AsType[*noAnswer](failed)
		if left == 0 || !none || ctx.Err() != nil || !r.read() && !e.unsent() {
			return nil, resp, err
		}
	}
}

// exchange sends a request once and reads the answer. resp is nil if there is none.
func (c *Client) exchange(ctx context.Context, r *request, within time.Duration) (data []byte, resp *http.Response, err error) {
	a := c.begin(ctx, within)
	code := 0
	defer func() { a.end(code, err) }()
	resp, err = a.send(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	code = resp.StatusCode
	if r.most == maxList {
		a.unlimited() // a list may be long
	}
	data, err = readBody(resp, r.most)
	if err == nil {
		err = errorOfAnswer(resp, data)
	}
	if _, none := errors.AsType[*noAnswer](err); none {
		return nil, nil, err
	}
	return data, resp, err
}

// readBody reads a body of a limited size.
func readBody(resp *http.Response, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, asNoAnswer(resp.Request, err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("client: the answer has more than %d bytes", most)
	}
	return data, nil
}

// pauseBefore reports whether a request that failed is repeated, and after which time (upstream:
// client-go, rest/with_retry.go and Request.request).
func pauseBefore(r *request, resp *http.Response, err error) (time.Duration, bool) {
	if resp == nil {
		return time.Second, r.read() && isLoss(err)
	}
	if resp.StatusCode != http.StatusTooManyRequests && !(r.read() && resp.StatusCode >= http.StatusInternalServerError) {
		return 0, false
	}
	return retryAfter(resp)
}

// retryAfter reads the header Retry-After in seconds. A date is ignored, as by client-go.
func retryAfter(resp *http.Response) (time.Duration, bool) {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	return time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second, err == nil
}

// maxRetryAfter bounds the seconds that a server can ask a client to wait.
const maxRetryAfter = 3600

// isLoss reports whether a connection was lost (upstream: apimachinery, util/net.IsProbableEOF,
// IsConnectionReset and IsHTTP2ConnectionLost).
func isLoss(err error) bool {
	e, ok := errors.AsType[*noAnswer](err)
	if _, other := errors.AsType[*notOfAPI](err); !ok || other {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return true
	}
	text := e.err.Err.Error() // net/http has no values for these errors
	for _, part := range []string{
		"http: can't write HTTP request on broken connection", "http2: server sent GOAWAY and closed the connection",
		pingLost, "connection reset by peer", "use of closed network connection",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endOf returns the error of a context that ended after a failure, or after none. It names each
// reason once.
func endOf(ctx context.Context, failed error) error {
	err := ctx.Err()
	if e, ok := errors.AsType[*ended](context.Cause(ctx)); ok {
		err = e
	}
	switch {
	case failed == nil:
		return err
	case errors.Is(failed, ctx.Err()):
		return failed
	}
	return fmt.Errorf("%w; before that: %w", err, failed)
}
