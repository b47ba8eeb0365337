package wire

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

const (
	namespace = "test"
	protobuf  = "application/vnd.kubernetes.protobuf"
	json      = "application/json"
)

// encode returns an object in the encoding of upstream's codec.
func encode(t *testing.T, mediaType string, gv schema.GroupVersion, o runtime.Object) []byte {
	t.Helper()
	var buf bytes.Buffer
	require.NoError(t, scheme.Codecs.EncoderForVersion(serializer(t, mediaType), gv).Encode(o, &buf))
	return buf.Bytes()
}

// decode decodes bytes with upstream's codec.
func decode(t *testing.T, mediaType string, data []byte) runtime.Object {
	t.Helper()
	o, _, err := serializer(t, mediaType).Decode(data, nil, nil)
	require.NoError(t, err, "%s %q", mediaType, data)
	return o
}

func serializer(t *testing.T, mediaType string) runtime.Serializer {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	require.True(t, ok)
	return info.Serializer
}

// server is an API for requests in bytes.
type server struct {
	st     *store.Store
	client http.Client
}

func newServer(t *testing.T) *server {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{})
	t.Cleanup(st.Close)
	t.Cleanup(api.Close)
	return &server{st, http.Client{Transport: api.Transport()}}
}

// open sends a request and returns the answer unread.
func (s *server) open(t *testing.T, method, path, accept, contentType string, body []byte) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://kubecoord"+path, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Accept", accept)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := s.client.Do(req)
	require.NoError(t, err)
	return resp
}

// do sends a request and returns the code and body of the answer.
func (s *server) do(t *testing.T, method, path, accept, contentType string, body []byte) (int, []byte) {
	t.Helper()
	resp := s.open(t, method, path, accept, contentType, body)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, data
}

// get returns the body of a successful answer.
func (s *server) get(t *testing.T, path, accept string) []byte {
	t.Helper()
	code, data := s.do(t, http.MethodGet, path, accept, "", nil)
	require.Equal(t, http.StatusOK, code, "%s", data)
	return data
}

// write sends an object. It returns the object with the fields that the server
// set, and the bytes of the answer.
func (s *server) write(t *testing.T, method, path, mediaType string, gv schema.GroupVersion, o object) (object, []byte) {
	t.Helper()
	code, data := s.do(t, method, path, mediaType, mediaType, encode(t, mediaType, gv, o))
	require.Contains(t, []int{http.StatusOK, http.StatusCreated}, code, "%q", data)
	got := decode(t, mediaType, data).(object)
	want := decode(t, mediaType, encode(t, mediaType, gv, o)).(object) // JSON loses precision
	want.GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	want.SetUID(got.GetUID())
	want.SetResourceVersion(got.GetResourceVersion())
	want.SetCreationTimestamp(got.GetCreationTimestamp())
	want.SetManagedFields(got.GetManagedFields())
	return want, data
}

// empty returns the zero value of an object's type.
func empty(o object) object {
	return reflect.New(reflect.TypeOf(o).Elem()).Interface().(object)
}

// requireBytes fails the test with the place where two long texts differ.
func requireBytes(t *testing.T, want, got []byte) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	around := func(b []byte) []byte { return b[max(0, at-80):min(len(b), at+80)] }
	require.FailNow(t, "not the bytes that upstream writes", "from byte %d of %d, %d:\nwant %q\n got %q", at, len(want), len(got), around(want), around(got))
}
