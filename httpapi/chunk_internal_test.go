package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChunkIsThatOfNetHTTP(t *testing.T) {
	for _, size := range []int{1, 15, 16, 255, 256, 4096, 1 << 20} {
		data := strings.Repeat("x", size)
		part, _ := endChunk(append([]byte(chunkHead), data...))
		var want strings.Builder
		w := httputil.NewChunkedWriter(&want)
		_, err := w.Write([]byte(data))
		require.NoError(t, err)
		assert.Equal(t, want.String(), string(part.all))
		assert.Equal(t, data, string(part.data()))
	}
}

// A new version of Go may name its ResponseWriter otherwise. Watches would then be slower.
func TestResponseWriterOfNetHTTPIsRecognized(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, isServersOwn(w), isServersOwn(struct{ http.ResponseWriter }{w}), isServersOwn(httptest.NewRecorder()))
	}))
	defer web.Close()
	resp, err := http.Get(web.URL)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "true false false", string(data))
}
