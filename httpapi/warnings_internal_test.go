package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEachWarningIsSentOnce(t *testing.T) {
	var ws warnings
	h := http.Header{}
	for range 3 {
		for i := range 20 {
			ws.add(h, strconv.Itoa(i))
		}
		ws.add(h, "")
	}
	assert.Len(t, h["Warning"], 20)
	assert.Equal(t, `299 - "0"`, h["Warning"][0])
}

// Once the texts together are longer than warningsTotal, each is cut, also those before.
func TestManyLongWarningsAreCut(t *testing.T) {
	var ws warnings
	h := http.Header{}
	long := func(c string) string { return strings.Repeat(c, 1000) }
	for _, c := range []string{"a", "b", "c", "d"} {
		ws.add(h, long(c))
	}
	assert.Equal(t, `299 - "`+long("a")+`"`, h["Warning"][0])
	ws.add(h, long("e"))
	assert.Len(t, h["Warning"], 5)
	for i, c := range []string{"a", "b", "c", "d", "e"} {
		assert.Equal(t, `299 - "`+strings.Repeat(c, warningCut)+`"`, h["Warning"][i])
	}
	for i := range 100 {
		ws.add(h, strconv.Itoa(i)+long("x"))
	}
	assert.Len(t, h["Warning"], warningsTotal/warningCut)
}
