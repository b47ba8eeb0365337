package apitest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/skim"
	"github.com/kubecoord/kubecoord/store"
)

// note takes down, for Verify, what a client is told, just before it is sent: so
// whatever a client does because of it comes later. A nil note does nothing.
type note struct {
	api      *API
	call     *call
	code     int
	watching bool
	noted    bool   // the answer is in the record
	size     int    // of the answer so far
	data     []byte // of an answer its beginning, of a watch a frame that is not complete yet
	yaml     bool
}

// note returns what takes down the answer to a request that is about to be handed
// to the API.
func (x *exchange) note() *note {
	if x.call == nil {
		return nil
	}
	x.call.stale = x.stale != nil
	x.api.record.handOn(x.call, x.api.st.ResourceVersion())
	return &note{api: x.api, call: x.call}
}

// begin takes down the code.
func (n *note) begin(code int, watching bool) {
	if n == nil {
		return
	}
	if n.code, n.watching = code, watching; watching {
		n.noted = true
		n.api.record.opened(n.call, n.api.st.ResourceVersion())
	}
}

// write takes down a part of the answer.
func (n *note) write(p []byte, header http.Header) {
	switch {
	case n == nil:
	case n.watching:
		n.frames(p, strings.HasPrefix(header.Get("Content-Type"), "application/vnd.kubernetes.protobuf"))
	case !n.noted:
		n.size += len(p)
		length, err := strconv.Atoi(header.Get("Content-Length"))
		n.yaml = strings.HasPrefix(header.Get("Content-Type"), typeYAML)
		n.answer(p, err == nil && n.size >= length)
	}
}

// answer looks for what an answer is about, as soon as there is enough of it.
func (n *note) answer(p []byte, whole bool) {
	if len(n.data) > 0 {
		n.data = append(n.data, p...)
		p = n.data
	}
	head, enough := skimObject(p, n.yaml, whole)
	switch {
	case enough:
		n.data, n.noted = nil, true
		altered := n.altered(p, head, whole)
		n.api.record.answered(n.call, n.code, head, altered, n.api.st.ResourceVersion())
	case n.data == nil:
		n.data = bytes.Clone(p)
	}
}

// altered reports whether an answer has other content than the version which it
// tells of, where that can be told at a glance: the object is in that version, and
// the answer is what the store remembers of it.
func (n *note) altered(body []byte, head skim.Head, whole bool) bool {
	c := n.call
	if n.code >= 300 || c.dryRun || !head.Enough() || head.Name == "" {
		return false
	}
	for i, info := range n.api.kinds {
		if info.Group != c.group || info.Plural != c.resource || info.Kind != head.Kind {
			continue
		}
		it, err := n.api.st.Resource(n.api.served[i]).Get(context.Background(), head.Namespace, head.Name, "")
		version := slices.IndexFunc(info.Versions, func(v store.VersionInfo) bool { return v.Name == c.version })
		if err != nil || version < 0 || it.Version() != head.ResourceVersion {
			return false
		}
		if bytes.IndexByte(body, '\n') == len(body)-1 { // and all of it is there
			data, err := it.Encoded(version, store.JSON)
			return err == nil && !bytes.HasSuffix(body[:len(body)-1], data[1:]) && !(info.Unstructured && sameMembers(body, data))
		}
		if whole && bytes.HasPrefix(body, []byte("k8s\x00")) {
			data, err := it.Encoded(version, store.Protobuf)
			return err == nil && !bytes.Contains(body, data)
		}
	}
	return false
}

// sameMembers reports whether an answer has the members of an object and its type,
// which stands between them where the object is of any form.
func sameMembers(body, object []byte) bool {
	var got, want map[string]any
	if json.Unmarshal(body, &got) != nil || json.Unmarshal(object, &want) != nil {
		return false
	}
	delete(got, "apiVersion")
	delete(got, "kind")
	return reflect.DeepEqual(got, want)
}

// frames takes down the events that are complete with p.
func (n *note) frames(p []byte, protobuf bool) {
	if len(n.data) > 0 {
		p = append(n.data, p...)
		n.data = nil
	}
	for len(p) > 0 {
		frame, rest, complete := nextFrame(p, protobuf)
		if !complete {
			n.data = bytes.Clone(p)
			return
		}
		n.api.record.event(n.call, skim.Event(frame, protobuf))
		p = rest
	}
}

// nextFrame cuts the first event off, if all of it is there.
func nextFrame(p []byte, protobuf bool) (frame, rest []byte, complete bool) {
	frame, rest = cutFrame(p, protobuf)
	if protobuf {
		return frame, rest, len(p) >= 4 && len(frame) == int(binary.BigEndian.Uint32(p))+4
	}
	return frame, rest, frame[len(frame)-1] == '\n'
}

// end takes down what there was to the end, or that there is no answer.
func (n *note) end() {
	switch {
	case n == nil || n.noted:
	case n.code != 0:
		n.answer(nil, true)
	default:
		n.api.record.unanswered(n.call, n.api.st.ResourceVersion())
	}
}
