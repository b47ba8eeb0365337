package httpapi_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHealth(t *testing.T) {
	s := newServer(t)
	for _, name := range []string{"healthz", "livez", "readyz"} {
		for _, row := range []struct{ target, want string }{
			{"", "ok"},
			{"/ping", "ok"},
			{"/log", "ok"},
			{"?exclude=ping", "ok"},
			{"?exclude=unknown", "ok"},
			{"?verbose", "[+]ping ok\n[+]log ok\n" + name + " check passed\n"},
			{"?verbose=false", "[+]ping ok\n[+]log ok\n" + name + " check passed\n"},
			{"?verbose&exclude=ping", "[+]ping excluded: ok\n[+]log ok\n" + name + " check passed\n"},
			{"?verbose&exclude=log&exclude=ping", "[+]ping excluded: ok\n[+]log excluded: ok\n" + name + " check passed\n"},
			{"?verbose&exclude=ping,log", "[+]ping ok\n[+]log ok\n" + name + " check passed\n"},
		} {
			a := s.do(t, "GET", "/"+name+row.target, "")
			assert.Equal(t, http.StatusOK, a.Code)
			assert.Equal(t, row.want, a.Body, name+row.target)
			assert.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"))
		}
		assert.Equal(t, http.StatusNotFound, s.do(t, "GET", "/"+name+"/unknown", "").Code)
		assert.Equal(t, http.StatusNotFound, s.do(t, "GET", "/"+name+"/", "").Code)
	}
}

func TestHealthTakesAnyMethod(t *testing.T) {
	s := newServer(t)
	for _, method := range []string{"HEAD", "POST", "DELETE", "OPTIONS"} {
		assert.Equal(t, http.StatusOK, s.do(t, method, "/healthz", "").Code, method)
	}
}

func TestHealthRefusesAnInvalidTimeout(t *testing.T) {
	s := newServer(t)
	assertStatus(t, s.do(t, "GET", "/readyz?timeout=abc", ""), http.StatusBadRequest, "BadRequest",
		`invalid timeout specified in the request URL - time: invalid duration "abc"`)
}

func TestVersion(t *testing.T) {
	s := newServer(t)
	a := s.do(t, "GET", "/version", "")
	assert.Equal(t, typeJSON, a.Header.Get("Content-Type"))
	doc := a.tree(t)
	assert.Equal(t, "1", doc["major"])
	assert.Equal(t, "37", doc["minor"])
	assert.Regexp(t, regexp.MustCompile(`^v1\.37\.\d+$`), doc["gitVersion"])
	assert.Contains(t, a.Body, "{\n  \"major\": \"1\",\n", "it is always indented")
	assert.Equal(t, a.Body, s.do(t, "GET", "/version/", "").Body, "Python asks with a slash at the end")
	assert.Equal(t, http.StatusMethodNotAllowed, s.do(t, "POST", "/version", "").Code)
}

func TestVersionIsJSONOnly(t *testing.T) {
	s := newServer(t)
	for _, accept := range []string{"text/html", "application/yaml", typeProtobuf} {
		a := s.do(t, "GET", "/version", "", "Accept", accept)
		assert.Equal(t, http.StatusNotAcceptable, a.Code, accept)
	}
	a := s.do(t, "GET", "/version", "", "Accept", "text/html")
	assertStatus(t, a, http.StatusNotAcceptable, "NotAcceptable", "406: Not Acceptable\n\nAvailable representations: application/json")
}
