package endpoints

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/codec"
)

func TestSubsetsHaveOneOwnerAsAWhole(t *testing.T) {
	subsets := codec.MustCompile(reflect.TypeFor[Endpoints](), "v1").Field("subsets")
	assert.Equal(t, "atomic", subsets.ListType)
	address := subsets.Type.Elem.Field("addresses").Type.Elem
	assert.True(t, address.Atomic)
	assert.True(t, address.Field("targetRef").Type.Atomic)
	assert.True(t, subsets.Type.Elem.Field("ports").Type.Elem.Atomic)
}
