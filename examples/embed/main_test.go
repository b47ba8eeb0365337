package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEmbedRunsToItsEnd(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, "created hello held by me\nread over HTTP: 200 OK\nhello is held by you\n", out.String())
}
