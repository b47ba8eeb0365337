package serve

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWordsOfAShellAreQuoted(t *testing.T) {
	assert.Equal(t, "/a/b-c.pem", quoteShell("/a/b-c.pem"))
	assert.Equal(t, `'/a b/$x'`, quoteShell("/a b/$x"))
	assert.Equal(t, `'it'\''s'`, quoteShell("it's"))
	assert.Equal(t, `''`, quoteShell(""))
}
