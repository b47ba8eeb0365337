package consistency

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// head identifies an object, a list, a Table or a Status. Missing values are empty.
type head struct {
	kind, namespace, name, uid string
	version                    uint64
	reason                     meta.Reason // of a Status
}

// jsonHead is the head of a document in JSON. Name and uid of a Status are in its details.
type jsonHead struct {
	Kind     string
	Reason   meta.Reason
	Metadata struct{ Namespace, Name, UID, ResourceVersion string }
	Details  struct{ Name, UID string }
}

func (j *jsonHead) head() head {
	h := head{kind: j.Kind, namespace: j.Metadata.Namespace, name: j.Metadata.Name + j.Details.Name, uid: j.Metadata.UID + j.Details.UID, reason: j.Reason}
	h.version, _ = strconv.ParseUint(j.Metadata.ResourceVersion, 10, 64)
	return h
}

// headOf returns the head of a body.
func headOf(data []byte, contentType string) head {
	if message, ok := bytes.CutPrefix(data, []byte("k8s\x00")); ok {
		return protoHead(message)
	}
	if strings.Contains(contentType, "yaml") {
		data, _, _ = yaml.ToJSON(data)
	}
	var j jsonHead
	json.Unmarshal(data, &j) // the head of a body that is no object is empty
	return j.head()
}

// event is an event of a watch.
type event struct {
	kind       watch.EventType
	head       head
	initialEnd bool
}

// readEvent reads the frame of an event: a line of JSON, or a protobuf message after its length in four bytes.
func readEvent(frame []byte, protobuf bool) event {
	e := event{initialEnd: bytes.Contains(frame, []byte("k8s.io/initial-events-end"))}
	if protobuf {
		f := protoFields(frame[4:]) // WatchEvent: type = 1, object = 2 with raw = 1
		e.kind = watch.EventType(f[1])
		e.head = protoHead(bytes.TrimPrefix(protoFields(f[2])[1], []byte("k8s\x00")))
		return e
	}
	var j struct {
		Type   watch.EventType
		Object jsonHead
	}
	json.Unmarshal(frame, &j)
	e.kind, e.head = j.Type, j.Object.head()
	return e
}

// protoHead reads an Unknown: typeMeta = 1 with kind = 2, raw = 2. In raw, field 1 is the metadata.
func protoHead(message []byte) head {
	envelope := protoFields(message)
	h := head{kind: string(protoFields(envelope[1])[2])}
	object := protoFields(envelope[2])
	metadata := protoFields(object[1])
	version := metadata[6]
	switch {
	case h.kind == "Status":
		details := protoFields(object[5])
		h.name, h.uid, h.reason = string(details[1]), string(details[6]), meta.Reason(object[4])
	case strings.HasSuffix(h.kind, "List"):
		version = metadata[2]
	default:
		h.name, h.namespace, h.uid = string(metadata[1]), string(metadata[3]), string(metadata[5])
	}
	h.version, _ = strconv.ParseUint(string(version), 10, 64)
	return h
}

// protoFields returns the fields of a message that have a length, the last of each number.
func protoFields(data []byte) map[protowire.Number][]byte {
	fields := map[protowire.Number][]byte{}
	for len(data) > 0 {
		number, t, n := protowire.ConsumeTag(data)
		if n < 0 {
			return fields
		}
		size := protowire.ConsumeFieldValue(number, t, data[n:])
		if size < 0 {
			return fields
		}
		if t == protowire.BytesType {
			fields[number], _ = protowire.ConsumeBytes(data[n:])
		}
		data = data[n+size:]
	}
	return fields
}
