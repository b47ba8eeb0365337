package codec

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestShare(t *testing.T) {
	type spec struct {
		Names []string          `json:"names,omitempty" protobuf:"1"`
		More  map[string]string `json:"more,omitempty" protobuf:"2"`
	}
	type thing struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata" protobuf:"1"`
		Spec            spec  `json:"spec" protobuf:"2"`
		Status          *spec `json:"status,omitempty" protobuf:"3"`
	}
	typ := MustCompile(reflect.TypeFor[thing](), "v1")
	old := &thing{Spec: spec{Names: []string{"a"}}, Status: &spec{Names: []string{"before"}}}
	next := typ.Copy(old).(*thing)
	next.Name, next.Status.Names[0] = "other", "after!"
	held := typ.Share(next, old)
	assert.Same(t, unsafe.SliceData(old.Spec.Names), unsafe.SliceData(next.Spec.Names))
	assert.Equal(t, []string{"after!"}, next.Status.Names)
	assert.Equal(t, "other", next.Name)
	assert.InDelta(t, int(reflect.TypeFor[spec]().Size())+16+6, held, 64, "the old status")
	assert.Greater(t, typ.Share(nil, old), held, "all of it")

	next = typ.Copy(old).(*thing)
	typ.Share(next, old)
	assert.Same(t, old.Status, next.Status)
}
