package apitest

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// code is the part of a Status that errorIn needs, and protoEvent a WatchEvent in protobuf.
type (
	code struct {
		Code int32 `json:"code" protobuf:"6"`
	}
	protoEvent struct {
		Object struct {
			Raw []byte `json:"raw" protobuf:"1"`
		} `json:"object" protobuf:"2"`
	}
)

// errorIn returns the code of the Status in an ERROR event, or 0 for another event. A binary frame begins with its length.
func errorIn(frame []byte, binaryFrame bool) int {
	var ev struct{ Object code }
	if !binaryFrame {
		if bytes.HasPrefix(frame, []byte(`{"type":"ERROR"`)) {
			json.Unmarshal(frame, &ev)
		}
		return int(ev.Object.Code)
	}
	const length = 4
	if len(frame) < length || !bytes.HasPrefix(frame[length:], []byte("\x0a\x05ERROR")) {
		return 0
	}
	read := func(data []byte, into any) {
		codec.MustCompile(reflect.TypeOf(into).Elem(), "v1").DecodeProto(data, into)
	}
	var proto protoEvent
	read(frame[length:], &proto)
	if e, err := codec.OpenEnvelope(proto.Object.Raw); err == nil {
		read(e.Raw, &ev.Object)
	}
	return int(ev.Object.Code)
}
