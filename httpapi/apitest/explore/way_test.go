package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMasksHaveNoIndices(t *testing.T) {
	for path, want := range map[string]string{
		".spec.ports[12].name": ".spec.ports[].name", ".a[0][1]": ".a[][]", ".data.x[y].z[3]": ".data.x[y].z[]", ".a[[1]": ".a[[]", ".a[": ".a[", "": "",
	} {
		assert.Equal(t, want, asMasked(path), path)
	}
}
