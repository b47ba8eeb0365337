package httpapi_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What these tests expect, kube-apiserver 1.36.3 has answered.

// unzipped returns the body of a compressed answer.
func unzipped(t testing.TB, a answer) string {
	t.Helper()
	require.Equal(t, []string{"gzip"}, a.Header["Content-Encoding"])
	require.Empty(t, a.Header["Content-Length"])
	zr, err := gzip.NewReader(strings.NewReader(a.Body))
	require.NoError(t, err)
	data, err := io.ReadAll(zr)
	require.NoError(t, err)
	return string(data)
}

// largeLease returns a Lease with an annotation of a size.
func largeLease(name string, size int) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"a":%q}}}`, name, strings.Repeat("x", size))
}

func TestLongAnswersAreCompressedForWhoReadsGzip(t *testing.T) {
	synctest.Test(t, testLongAnswers) // so that the ages in tables do not change
}

func testLongAnswers(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, largeLease("a", 140_000))
	s.must(t, "POST", leases, largeLease("b", 100))
	for target, forms := range map[string][]string{
		leases + "/a": {typeJSON, typeYAML, typeProtobuf, typeJSON + asTable, typeProtobuf + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"},
		leases:        listForms,
	} {
		for _, accept := range forms {
			for _, pretty := range []string{"", "?pretty=1"} {
				plain := s.do(t, "GET", target+pretty, "", "Accept", accept)
				assert.Empty(t, plain.Header["Vary"])
				assert.Empty(t, plain.Header["Content-Encoding"])
				zipped := s.do(t, "GET", target+pretty, "", "Accept", accept, "Accept-Encoding", "gzip")
				assert.True(t, plain.Body == unzipped(t, zipped), "%s %s", target+pretty, accept)
				assert.Equal(t, "\x04", zipped.Body[8:9], "the level is that of the best speed")
				assert.Equal(t, []string{"Accept-Encoding"}, zipped.Header["Vary"])
				assert.Equal(t, plain.Header["Content-Type"], zipped.Header["Content-Type"])
			}
		}
	}
	assert.Contains(t, unzipped(t, s.do(t, "POST", leases, largeLease("c", 140_000), "Accept-Encoding", "gzip")), `"name":"c"`)
	notFound := s.do(t, "GET", leases+"/"+strings.Repeat("n", 140_000), "", "Accept-Encoding", "gzip")
	assert.Equal(t, http.StatusNotFound, notFound.Code)
	assert.Contains(t, unzipped(t, notFound), `"reason":"NotFound"`)
	assert.Empty(t, s.do(t, "GET", leases+"/b", "", "Accept-Encoding", "gzip").Header["Content-Encoding"])
	watch := s.do(t, "GET", leases+"?watch=true&timeoutSeconds=-1&resourceVersion=0", "", "Accept-Encoding", "gzip")
	assert.Empty(t, watch.Header["Content-Encoding"])
}

func TestGzipIsReadByWhoNamesItWithoutQuality(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, largeLease("a", 140_000))
	for codings, want := range map[string]bool{
		"gzip": true, " gzip ": true, "gzip, deflate": true, "br, gzip": true, "gzip;q=0,gzip": true,
		"": false, "GZIP": false, "x-gzip": false, "gzip;q=1": false, "gzip ;q=1": false, "gzip;q=0": false,
		"*": false, "identity": false, "identity;q=0": false, "deflate": false,
	} {
		a := s.do(t, "GET", leases, "", "Accept-Encoding", codings)
		assert.Equal(t, want, a.Header.Get("Content-Encoding") == "gzip", "%q", codings)
	}
}

func TestAnswersOf128KiBAreNotCompressed(t *testing.T) {
	s := newServer(t)
	for target, accept := range map[string]string{leases + "/a": typeJSON, leases: typeJSON, leases + "?limit=5": typeYAML} {
		size := func(annotation int) int {
			s.must(t, "DELETE", leases, "")
			s.must(t, "POST", leases, largeLease("a", annotation))
			return len(s.do(t, "GET", target, "", "Accept", accept).Body)
		}
		exact := 130_000 + 128<<10 - size(130_000)
		for more, want := range []string{"", "gzip"} {
			require.Equal(t, 128<<10+more, size(exact+more))
			a := s.do(t, "GET", target, "", "Accept", accept, "Accept-Encoding", "gzip")
			assert.Equal(t, want, a.Header.Get("Content-Encoding"), "%s %s", target, accept)
		}
	}
}

func TestOpenAPIV2IsCompressedByQuality(t *testing.T) {
	s := newServer(t)
	plain := s.do(t, "GET", openAPIV2, "")
	vary := []string{"Accept-Encoding", "Accept"}
	for codings, want := range map[string]bool{
		"gzip": true, "GZIP": true, "gzip;q=0.1": true, "deflate,gzip;q=0.5,identity;q=1": true, "gzip;x;q=1": true, "gzip,gzip;q=x": true,
		"": false, "gzip;q=0": false, "gzip;q=x": false, "*": false, "gzip,gzip;q=0": false,
	} {
		a := s.do(t, "GET", openAPIV2, "", "Accept-Encoding", codings)
		assert.Equal(t, vary, a.Header["Vary"])
		if !want {
			assert.True(t, plain.Body == a.Body, "%q", codings)
			continue
		}
		assert.True(t, plain.Body == unzipped(t, a), "%q", codings)
		assert.Equal(t, plain.Header["Etag"], a.Header["Etag"])
	}
	for name, headers := range map[string][]string{
		"unchanged": {"If-None-Match", plain.Header.Get("Etag")}, "a short part": {"Range", "bytes=0-1398"}, "no type fits": {"Accept", "text/plain"},
	} {
		a := s.do(t, "GET", openAPIV2, "", append(headers, "Accept-Encoding", "gzip")...)
		assert.Empty(t, a.Header["Content-Encoding"], name)
		assert.Equal(t, vary, a.Header["Vary"], name)
	}
	part := s.do(t, "GET", openAPIV2, "", "Range", "bytes=0-1399", "Accept-Encoding", "gzip")
	assert.Equal(t, plain.Body[:1400], unzipped(t, part))
	head := s.do(t, "HEAD", openAPIV2, "", "Accept-Encoding", "gzip")
	assert.Empty(t, head.Header["Content-Encoding"])
	assert.Equal(t, fmt.Sprint(len(plain.Body)), head.Header.Get("Content-Length"))
	v3 := s.do(t, "GET", openAPIV3+"/version", "", "Accept-Encoding", "gzip")
	assert.Empty(t, v3.Header["Content-Encoding"])
	assert.Equal(t, []string{"Accept"}, v3.Header["Vary"])
}

func TestRangeThatIsNotThereKeepsCacheControl(t *testing.T) {
	s := newServer(t)
	for _, target := range []string{openAPIV2, openAPIV3, openAPIV3 + "/version", s.link(t, "version")} {
		a := s.do(t, "GET", target, "", "Range", "bytes=99999999-")
		assert.Equal(t, http.StatusRequestedRangeNotSatisfiable, a.Code)
		assert.Equal(t, []string{"no-cache, private"}, a.Header["Cache-Control"])
	}
}
