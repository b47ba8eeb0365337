package registry

import (
	"reflect"
	"sync"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
)

// deleteOptionsType is compiled once in a process.
var deleteOptionsType = sync.OnceValue(func() *codec.Type { return codec.Compile(reflect.TypeFor[meta.DeleteOptions](), "v1") })

// DecodeDeleteOptions reads the body of a deletion. It may name any group, and is
// never decoded strictly.
func DecodeDeleteOptions(data []byte, f Format) (o DeleteOptions, err error) {
	if o, err = decodeDeleteOptions(data, f); err != nil {
		err = meta.NewBadRequest("%s", err)
	}
	return o, err
}

func decodeDeleteOptions(data []byte, f Format) (o DeleteOptions, err error) {
	if f == YAML {
		if data, _, err = yaml.ToJSON(data); err != nil {
			return o, err
		}
	}
	var d decoded
	raw, err := d.recognize(data, f)
	if err != nil {
		return o, err
	}
	if d.named.Kind == "" {
		d.named.Kind = "DeleteOptions"
	}
	if d.named.APIVersion == "" {
		d.named.APIVersion = "meta.k8s.io/v1"
	}
	// The version does not matter, whatever group it is of.
	switch {
	case d.named.Kind == "DeleteOptions":
	case isUnversioned(d.named.Kind) || isMetaOptions(d.named.Kind):
		return o, unconvertible(d.named, "v1.DeleteOptions")
	default:
		return o, unregistered(d.named)
	}
	if f == Protobuf {
		return o, deleteOptionsType().DecodeProto(raw, &o)
	}
	_, err = deleteOptionsType().DecodeJSON(raw, &o, false)
	return o, err
}
