package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Play is one run of a scenario. Its methods play requests until one cannot be carried out; then they do nothing.
type Play struct {
	Context   context.Context
	Transport http.RoundTripper
	URL       string
	Agent     string                                           // User-Agent of the requests
	MediaType string                                           // of bodies, unless a header says otherwise
	Fill      func(text string) string                         // puts the id of the run, and what belongs to it, into paths, bodies and headers
	Decode    func(mediaType string, body []byte) (any, error) // reads the body of an answer
	Norm      *Normalizer

	Answers []Answer
	Last    any // body of the last answer, as it came
	Err     error
}

// Do plays a request and adds its answer. Headers are "Name: value".
func (p *Play) Do(step, method, path, body string, headers ...string) {
	if p.Err != nil {
		return
	}
	p.Last = nil
	resp, data, err := p.Send(method, path, body, headers...)
	if err != nil {
		p.Err = fmt.Errorf("%s: %s %s: %w", step, method, path, err)
		return
	}
	a := Answer{Step: step, Request: method + " " + path, Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), RetryAfter: resp.Header.Get("Retry-After")}
	for _, w := range resp.Header.Values("Warning") {
		a.Warning = append(a.Warning, p.Norm.Text(w))
	}
	if p.Last, err = p.Decode(a.Type, data); err != nil {
		p.Err = fmt.Errorf("%s: status %d: %w: %.300s", step, resp.StatusCode, err, data)
		return
	}
	a.Body = p.Norm.Body(p.Last)
	p.Answers = append(p.Answers, a)
}

// Must plays a request that has to succeed, and adds no answer.
func (p *Play) Must(method, path, body string, headers ...string) {
	if p.Err != nil {
		return
	}
	resp, data, err := p.Send(method, path, body, headers...)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %.500s", resp.StatusCode, data)
	}
	if err != nil {
		p.Err = fmt.Errorf("%s %s: %w", method, path, err)
		return
	}
	p.Last, _, _ = Parse(data)
}

// Send sends a request and returns the answer and its body.
func (p *Play) Send(method, path, body string, headers ...string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(p.Context, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.URL+p.Fill(path), strings.NewReader(p.Fill(body)))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("User-Agent", p.Agent)
	req.Header.Set("Accept", "application/json")
	if body != "" {
		req.Header.Set("Content-Type", p.MediaType)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.HasPrefix(name, "Impersonate-") {
			req.Header.Add(name, p.Fill(value))
			continue
		}
		req.Header.Set(name, p.Fill(value))
	}
	resp, err := p.Transport.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if resp.StatusCode == http.StatusTooManyRequests && bytes.Contains(data, []byte(`"storage is (re)initializing"`)) && ctx.Err() == nil {
		return p.Send(method, path, body, headers...) // a server replaces the kind just now: clients repeat the request
	}
	return resp, data, err
}
