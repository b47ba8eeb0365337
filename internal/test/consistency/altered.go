package consistency

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// altered reports whether an answer differs from the object at the version in the answer. It can only compare while the
// object is still at that version, and if the answer is the plain object in JSON or protobuf.
func (rec *recorder) altered(c *call, body []byte) bool {
	head := c.answer
	if c.dryRun || !head.Enough() || head.Name == "" {
		return false
	}
	for _, kind := range rec.kinds {
		r := rec.st.Resource(kind.Registered())
		info := r.Info()
		if info.Group != c.group || info.Plural != c.resource || info.Kind != head.Kind {
			continue
		}
		it, err := r.Get(context.Background(), head.Namespace, head.Name, "")
		version := slices.IndexFunc(info.Versions, func(v registry.VersionInfo) bool { return v.Name == c.version })
		if err != nil || version < 0 || it.Version() != head.ResourceVersion {
			return false
		}
		if bytes.IndexByte(body, '\n') == len(body)-1 {
			data, err := it.Encoded(version, registry.JSON)
			return err == nil && !bytes.HasSuffix(body[:len(body)-1], data[1:]) && !(info.Unstructured && sameMembers(body, data))
		}
		if bytes.HasPrefix(body, []byte("k8s\x00")) {
			data, err := it.Encoded(version, registry.Protobuf)
			return err == nil && !bytes.Contains(body, data)
		}
	}
	return false
}

// sameMembers reports whether an answer has the members of an object. Its apiVersion and kind are not compared.
func sameMembers(body, object []byte) bool {
	var got, want map[string]any
	if json.Unmarshal(body, &got) != nil || json.Unmarshal(object, &want) != nil {
		return false
	}
	delete(got, "apiVersion")
	delete(got, "kind")
	return reflect.DeepEqual(got, want)
}
