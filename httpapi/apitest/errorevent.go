package apitest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// errorIn returns the code of the Status in an ERROR event, or 0 for another event.
func errorIn(frame []byte, binaryFrame bool) int {
	if binaryFrame {
		return errorInProtobuf(frame)
	}
	var ev struct {
		Object code `json:"object"`
	}
	if !bytes.HasPrefix(frame, []byte(`{"type":"ERROR"`)) || json.Unmarshal(frame, &ev) != nil {
		return 0
	}
	return int(ev.Object.Code)
}

// code is the part of a Status that errorIn needs.
type code struct {
	Code int32 `json:"code" protobuf:"6"`
}

// protoEvent is a WatchEvent in protobuf.
type protoEvent struct {
	Type   string `json:"type" protobuf:"1"`
	Object struct {
		Raw []byte `json:"raw" protobuf:"1"`
	} `json:"object" protobuf:"2"`
}

var (
	protoEventType = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[protoEvent](), "v1") })
	codeType       = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[code](), "v1") })
)

// errorInProtobuf is errorIn for a frame that begins with its length.
func errorInProtobuf(frame []byte) int {
	const length = 4
	var ev protoEvent
	if len(frame) < length || !bytes.HasPrefix(frame[length:], []byte("\x0a\x05ERROR")) || protoEventType().DecodeProto(frame[length:], &ev) != nil {
		return 0
	}
	var s code
	e, err := codec.OpenEnvelope(ev.Object.Raw)
	if err != nil || codeType().DecodeProto(e.Raw, &s) != nil {
		return 0
	}
	return int(s.Code)
}
