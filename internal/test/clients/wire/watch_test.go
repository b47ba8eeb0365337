package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// frames reads a stream of events one by one, as bytes.
func frames(mediaType string, body io.Reader) func(t *testing.T) []byte {
	lines := bufio.NewReader(body)
	return func(t *testing.T) []byte {
		t.Helper()
		if mediaType == json {
			line, err := lines.ReadBytes('\n')
			require.NoError(t, err)
			return line
		}
		var length uint32
		require.NoError(t, binary.Read(lines, binary.BigEndian, &length))
		frame := make([]byte, length)
		_, err := io.ReadFull(lines, frame)
		require.NoError(t, err)
		return frame
	}
}

// frame returns an event in upstream's encoding.
func frame(t *testing.T, k kind, mediaType string, event watch.EventType, o runtime.Object) []byte {
	t.Helper()
	raw := encode(t, mediaType, k.GroupVersion(), o)
	ev := &metav1.WatchEvent{Type: string(event), Object: runtime.RawExtension{Raw: raw}}
	if mediaType == protobuf {
		data, err := ev.Marshal()
		require.NoError(t, err)
		return data
	}
	ev.Object.Raw = bytes.TrimSuffix(raw, []byte("\n"))
	var buf bytes.Buffer
	require.NoError(t, serializer(t, json).Encode(ev, &buf))
	return buf.Bytes()
}

func TestEventsAreEncodedAsUpstream(t *testing.T) {
	for _, k := range kinds {
		for _, accept := range []string{protobuf, json} {
			t.Run(k.Kind+" "+k.Version+" as "+accept, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer(t)
					asked := accept
					if asked == protobuf {
						asked += ";stream=watch"
					}
					resp := s.open(t, http.MethodGet, k.path("")+"?watch=true&allowWatchBookmarks=true", asked, "", nil)
					defer resp.Body.Close()
					assert.Equal(t, asked, resp.Header.Get("Content-Type"))
					next := frames(accept, resp.Body)
					bookmark := empty(k.new(""))
					bookmark.SetResourceVersion("1000")
					bookmark.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
					requireBytes(t, frame(t, k, accept, watch.Bookmark, bookmark), next(t))

					for i := range count {
						created, _ := s.write(t, http.MethodPost, k.path(""), protobuf, k.GroupVersion(), k.object(i, "x"))
						requireBytes(t, frame(t, k, accept, watch.Added, created), next(t))

						o := k.object(i, "y")
						o.SetResourceVersion(created.GetResourceVersion())
						updated, _ := s.write(t, http.MethodPut, k.path(o.GetName()), protobuf, k.GroupVersion(), o)
						requireBytes(t, frame(t, k, accept, watch.Modified, updated), next(t))

						code, answer := s.do(t, http.MethodDelete, k.path(o.GetName()), json, "", nil)
						require.Equal(t, http.StatusOK, code, "%s", answer)
						updated.SetResourceVersion(s.st.ResourceVersion())
						requireBytes(t, frame(t, k, accept, watch.Deleted, updated), next(t))
					}
				})
			})
		}
	}
}
