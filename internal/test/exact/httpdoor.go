package exact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// HTTPDoor is the REST API, in JSON.
type HTTPDoor struct {
	Base   string // such as http://127.0.0.1:8080
	Client *http.Client
	Group  string // of the Leases; "" means coordination.k8s.io
}

func (d HTTPDoor) apiVersion() string { return cmp.Or(d.Group, "coordination.k8s.io") + "/v1" }

// body returns an object with its type, which a custom resource must have.
func (d HTTPDoor) body(s State) *lease.Lease {
	l := newLease(s)
	l.TypeMeta = meta.TypeMeta{APIVersion: d.apiVersion(), Kind: "Lease"}
	return l
}

func (d HTTPDoor) path(namespace, name string) string {
	p := d.Base + "/apis/" + d.apiVersion()
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/leases"
	if name != "" {
		p += "/" + name
	}
	return p
}

// open sends a request and returns the answer if it is a success. The caller closes the body.
func (d HTTPDoor) open(ctx context.Context, method, target, mediaType string, body any) (*http.Response, error) {
	var data []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		data = b
	default:
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", mediaType)
	resp, err := d.Client.Do(req)
	if err != nil || resp.StatusCode < 300 {
		return resp, err
	}
	defer resp.Body.Close()
	refusal := &meta.StatusError{}
	if err := json.NewDecoder(resp.Body).Decode(&refusal.Status); err != nil {
		return nil, err
	}
	return nil, refusal
}

// do sends a request and decodes the answer.
func (d HTTPDoor) do(ctx context.Context, method, target, mediaType string, body, answer any) error {
	resp, err := d.open(ctx, method, target, mediaType, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}

func (d HTTPDoor) object(ctx context.Context, method, target, mediaType string, body any) (State, error) {
	var l lease.Lease
	if err := d.do(ctx, method, target, mediaType, body, &l); err != nil {
		return State{}, err
	}
	return stateOf(&l), nil
}

// Create implements Door.
func (d HTTPDoor) Create(ctx context.Context, s State) (State, error) {
	return d.object(ctx, "POST", d.path(s.Namespace, ""), "application/json", d.body(s))
}

// Get implements Door.
func (d HTTPDoor) Get(ctx context.Context, namespace, name, version string) (State, error) {
	return d.object(ctx, "GET", d.path(namespace, name)+"?resourceVersion="+version, "", nil)
}

// Update implements Door.
func (d HTTPDoor) Update(ctx context.Context, s State) (State, error) {
	return d.object(ctx, "PUT", d.path(s.Namespace, s.Name), "application/json", d.body(s))
}

// Patch implements Door.
func (d HTTPDoor) Patch(ctx context.Context, s State) (State, error) {
	return d.object(ctx, "PATCH", d.path(s.Namespace, s.Name), "application/merge-patch+json", patchOf(s))
}

// Delete implements Door. The answer is a Status without a resourceVersion.
func (d HTTPDoor) Delete(ctx context.Context, namespace, name, uid string) (State, error) {
	options := map[string]any{"kind": "DeleteOptions", "apiVersion": "v1"}
	if uid != "" {
		options["preconditions"] = map[string]string{"uid": uid}
	}
	var s meta.Status
	if err := d.do(ctx, "DELETE", d.path(namespace, name), "application/json", options, &s); err != nil {
		return State{}, err
	}
	return State{Namespace: namespace, Name: name, UID: string(s.Details.UID)}, nil
}

// List implements Door.
func (d HTTPDoor) List(ctx context.Context, opts ListOptions) (Page, error) {
	q := url.Values{}
	for name, value := range map[string]string{
		"labelSelector": opts.selector(), "continue": opts.Continue, "resourceVersion": opts.Version, "resourceVersionMatch": opts.Match,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if opts.Limit > 0 {
		q.Set("limit", strconv.Itoa(opts.Limit))
	}
	var l struct {
		meta.ListMeta `json:"metadata"`
		Items         []lease.Lease `json:"items"`
	}
	if err := d.do(ctx, "GET", d.path(opts.Namespace, "")+"?"+q.Encode(), "", nil, &l); err != nil {
		return Page{}, err
	}
	p := Page{Version: version(l.ResourceVersion), Continue: l.Continue, Remaining: -1}
	if l.RemainingItemCount != nil {
		p.Remaining = *l.RemainingItemCount
	}
	for i := range l.Items {
		p.Items = append(p.Items, stateOf(&l.Items[i]))
	}
	return p, nil
}

// Watch implements Door.
func (d HTTPDoor) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event, error] {
	q := url.Values{"watch": {"true"}}
	if opts.Version != "" {
		q.Set("resourceVersion", opts.Version)
	}
	if opts.Color != "" {
		q.Set("labelSelector", selector(opts.Color))
	}
	if opts.Name != "" {
		q.Set("fieldSelector", "metadata.name="+opts.Name)
	}
	if opts.Initial {
		q.Set("sendInitialEvents", "true")
		q.Set("allowWatchBookmarks", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
	}
	return func(yield func(Event, error) bool) {
		resp, err := d.open(ctx, "GET", d.path(opts.Namespace, "")+"?"+q.Encode(), "", nil)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer resp.Body.Close()
		for frames := json.NewDecoder(resp.Body); ; {
			var frame struct {
				Type   watch.EventType
				Object json.RawMessage
			}
			if err := frames.Decode(&frame); err != nil {
				yield(Event{}, err)
				return
			}
			e, err := decodeEvent(frame.Type, frame.Object)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func decodeEvent(t watch.EventType, object []byte) (Event, error) {
	if t == watch.Error {
		refusal := &meta.StatusError{}
		if err := json.Unmarshal(object, &refusal.Status); err != nil {
			return Event{}, err
		}
		return Event{}, refusal
	}
	var l lease.Lease
	if err := json.Unmarshal(object, &l); err != nil {
		return Event{}, err
	}
	return Event{t, stateOf(&l), l.Annotations["k8s.io/initial-events-end"] == "true"}, nil
}
