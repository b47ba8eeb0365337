package wiretest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// userAgent is sent unless a step sets another: servers derive the default field manager from it.
	userAgent = "conformance/1.0"

	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"

	// answerLimit is the longest time for an answer; for a stream, until its first byte.
	answerLimit = 70 * time.Second
)

var errNoAnswer = errors.New("no answer in time")

// request sends the step's request and returns its outcome. If the step opens a stream, reading continues after the step.
func (x *run) request(ctx context.Context, s Step) (Expected, error) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	cancel := func() { cancelCause(nil) }
	limit := time.AfterFunc(answerLimit, func() { cancelCause(errNoAnswer) })
	defer limit.Stop()

	req, err := x.newRequest(ctx, s)
	if err != nil {
		cancel()
		return Expected{}, err
	}
	resp, err := x.transport.RoundTrip(req)
	if err != nil {
		err = causeOf(ctx, err)
		cancel()
		return Expected{}, err
	}
	e := Expected{Status: resp.StatusCode, Headers: x.headers(resp.Header)}
	if s.Open != "" && resp.StatusCode == http.StatusOK {
		x.open(s.Open, resp, cancel)
		return e, nil
	}
	defer cancel()
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return e, causeOf(ctx, err)
	}
	return e, x.readBody(&e, s, resp.Header.Get("Content-Type"), data)
}

// causeOf returns why ctx was cancelled, or else err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (x *run) newRequest(ctx context.Context, s Step) (*http.Request, error) {
	body, contentType, err := x.body(s)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, s.Method, x.target(s), nil)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.ContentLength = int64(len(body))
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("Accept", jsonType)
	req.Header.Set("User-Agent", userAgent)
	for name, value := range s.Headers {
		if value == "-" {
			req.Header.Del(name)
			continue
		}
		req.Header.Set(name, x.expand(value))
	}
	return req, nil
}

func (x *run) target(s Step) string {
	target := x.baseURL + x.expand(s.Path)
	if s.RawQuery != "" {
		return target + "?" + x.expand(s.RawQuery)
	}
	if len(s.Query) == 0 {
		return target
	}
	query := url.Values{}
	for name, value := range s.Query {
		query.Set(name, x.expand(value))
	}
	return target + "?" + query.Encode()
}

// body returns the body that the step sends, or nil, and its media type.
func (x *run) body(s Step) ([]byte, string, error) {
	switch {
	case len(s.Body) > 0:
		var b bytes.Buffer
		if err := json.Compact(&b, s.Body); err != nil {
			return nil, "", err
		}
		return []byte(x.expand(b.String())), jsonType, nil
	case s.BodyText != "":
		return []byte(x.expand(s.BodyText)), jsonType, nil
	case len(s.BodyProtobuf) > 0:
		b, err := encodeProtobuf([]byte(x.expand(string(s.BodyProtobuf))))
		return b, protobufType, err
	case s.BodyRepeat != nil:
		r := s.BodyRepeat
		return []byte(x.expand(r.Prefix) + strings.Repeat(r.Unit, r.Count) + x.expand(r.Suffix)), jsonType, nil
	}
	return nil, "", nil
}
