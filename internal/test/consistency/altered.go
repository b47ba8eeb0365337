package consistency

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/kubecoord/kubecoord/internal/kinds"
)

// altered reports whether an answer differs from the object at the version in the answer. It can only compare while the
// object is still at that version, and if the answer is the plain object in JSON or protobuf.
func (rec *recorder) altered(c *call, body []byte) bool {
	h := c.answer
	if c.dryRun || h.version == 0 || h.name == "" || h.uid == "" {
		return false
	}
	for _, kind := range rec.kinds {
		r := rec.st.Resource(kind.Registered())
		info := r.Info()
		if info.Group != c.Group || info.Plural != c.Resource || info.Kind != h.kind {
			continue
		}
		it, err := r.Get(context.Background(), h.namespace, h.name, "")
		version := slices.IndexFunc(info.Versions, func(v kinds.VersionInfo) bool { return v.Name == c.Version })
		if err != nil || version < 0 || it.Version() != h.version {
			return false
		}
		if bytes.HasPrefix(body, []byte("k8s\x00")) {
			data, err := it.Encoded(version, kinds.Protobuf)
			return err == nil && !bytes.Contains(body, data)
		}
		data, err := it.Encoded(version, kinds.JSON)
		return err == nil && json.Valid(body) && !sameMembers(body, data)
	}
	return false
}

// sameMembers reports whether an answer has the members of an object. Its apiVersion and kind are not compared.
func sameMembers(body, object []byte) bool {
	var got, want map[string]any
	if json.Unmarshal(body, &got) != nil || json.Unmarshal(object, &want) != nil {
		return false
	}
	for _, members := range []map[string]any{got, want} {
		delete(members, "apiVersion")
		delete(members, "kind")
	}
	return reflect.DeepEqual(got, want)
}
