package codec

import (
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// The allocator rounds the sizes to 320 and 256, which puts every Type and Field at the start of a line.
func TestLayout(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the sizes are for pointers of 64 bits")
	}
	assert.EqualValues(t, 312, unsafe.Sizeof(Type{}))
	assert.EqualValues(t, 248, unsafe.Sizeof(Field{}))
	assert.EqualValues(t, 64, unsafe.Offsetof(Type{}.all))
	assert.EqualValues(t, 64, unsafe.Offsetof(Field{}.Name))
}
