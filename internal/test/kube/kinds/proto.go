package kinds

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

var errNoProto = errors.New("the JSON is no object of the Go type")

// toProto returns the protobuf form of a JSON object of a resource.
func toProto(r Resource, data []byte) ([]byte, error) {
	o, err := scheme.Scheme.New(r.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, o); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoProto, err)
	}
	var out bytes.Buffer
	err = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(o, &out)
	return out.Bytes(), err
}

// fromProto returns the JSON of an object in protobuf. It is an error if the object has other bytes when it is written again.
func fromProto(data []byte) ([]byte, error) {
	s := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	o, _, err := s.Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	var again bytes.Buffer
	if err := s.Encode(o, &again); err != nil {
		return nil, err
	}
	if !bytes.Equal(again.Bytes(), data) {
		return json.Marshal(map[string]any{"not as client-go writes it": o})
	}
	return json.Marshal(o)
}

// protoEvent reads one event of a watch in protobuf and returns its JSON.
func protoEvent(body io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(body, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > 1<<26 {
		return nil, errors.New("an event of more than 64 MiB")
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(body, frame); err != nil {
		return nil, err
	}
	event, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), frame)
	if err != nil {
		return nil, err
	}
	e, ok := event.(*metav1.WatchEvent)
	if !ok {
		return nil, fmt.Errorf("got %T, want an event", event)
	}
	object, err := fromProto(e.Object.Raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"type": e.Type, "object": json.RawMessage(object)})
}
