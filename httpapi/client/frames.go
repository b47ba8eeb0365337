package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// frame is one event of a watch on the wire.
type frame struct {
	Type   watch.EventType `json:"type"`
	Object json.RawMessage `json:"object"`
}

// frames reads the events of a watch.
type frames struct {
	resp    *http.Response
	body    io.LimitedReader // the rest of the present frame
	decoder *json.Decoder
}

func newFrames(resp *http.Response) *frames {
	f := &frames{resp: resp, body: io.LimitedReader{R: resp.Body}}
	f.decoder = json.NewDecoder(&f.body)
	return f
}

// next reads a frame. ended means that the server has ended the watch. An ERROR is returned as
// error.
func (r *frames) next() (f frame, ended bool, err error) {
	r.body.N = maxObject
	err = r.decoder.Decode(&f)
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil && f.Type == watch.Error:
		return f, false, errorOf(f.Object)
	case err == nil:
		return f, false, nil
	case r.body.N <= 0:
		return f, false, fmt.Errorf("client: event: got more than %d bytes, want fewer", maxObject)
	case err == io.EOF:
		return f, true, nil
	case errors.As(err, &syntax), errors.As(err, &wrong):
		return f, false, fmt.Errorf("client: event: %w", err)
	}
	return f, false, asNoAnswer(r.resp.Request, err)
}

// errorOf returns the error of an ERROR event.
func errorOf(object []byte) error {
	e := &meta.StatusError{}
	if err := json.Unmarshal(object, &e.Status); err != nil || e.Status.Kind != "Status" {
		return fmt.Errorf("client: event: got an %s without a Status", watch.Error)
	}
	return asExpired(e)
}
