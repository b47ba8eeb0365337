package httpapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTextOfMetricsIsEscaped(t *testing.T) {
	text := &metricText{}
	text.family("a", "gauge", "x\\\ny")
	text.sample("a", 1.5, "l", "q\"b\\n\nu\xff")
	assert.Equal(t, "# HELP a x\\\\\\ny\n# TYPE a gauge\na{l=\"q\\\"b\\\\n\\nu\uFFFD\"} 1.5\n", text.String())
}
