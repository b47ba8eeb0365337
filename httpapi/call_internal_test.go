package httpapi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// A call is made for each request. The next size class of the allocator is 576 bytes.
func TestSizeOfACall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(call{}), uintptr(512))
}
