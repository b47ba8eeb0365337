package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answers is a server that counts what it is asked.
type answers struct{ asked int }

// RoundTrip answers. A watch stays open until its request ends.
func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	a.asked++
	var body io.Reader = strings.NewReader("answer")
	if req.URL.Query().Get("watch") == "true" {
		r, w := io.Pipe()
		context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
		body = r
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
}

func testLink(t *testing.T) (*link, *answers, func(query string) (*http.Response, error)) {
	server := new(answers)
	l := newLink(server, time.Second, 1)
	l.watching, l.failed = func(bool) {}, func() {}
	return l, server, func(query string) (*http.Response, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		t.Cleanup(cancel)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://coordination/"+query, nil)
		require.NoError(t, err)
		return l.RoundTrip(req)
	}
}

func TestRequestsInEachWeather(t *testing.T) {
	for name, row := range map[string]struct {
		weather weather
		// of 300 requests
		reach, succeed, least, most time.Duration
	}{
		"clear":   {clear, 300, 300, 0, 0},
		"slow":    {slow, 300, 300, 300 * time.Second / 2, 300 * 3 * time.Second / 2},
		"failing": {failing, 0, 0, 0, 0},
		"hanging": {hanging, 0, 0, 300 * givesUp, 300 * givesUp},
		"dead":    {dead, 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, server, get := testLink(t)
				l.set(row.weather)
				begin, ok := time.Now(), 0
				for range 300 {
					if _, err := get(""); err == nil {
						ok++
					}
				}
				assert.EqualValues(t, row.reach, server.asked)
				assert.EqualValues(t, row.succeed, ok)
				assert.GreaterOrEqual(t, time.Since(begin), row.least)
				assert.LessOrEqual(t, time.Since(begin), row.most)
				l.set(clear)
				_, err := get("")
				assert.Equal(t, row.weather == dead, err != nil, "who is dead stays so")
			})
		})
	}
}

func TestFlakyLinkBreaksRequestsOnEitherWay(t *testing.T) {
	l, server, get := testLink(t)
	failed, ok := 0, 0
	l.failed = func() { failed++ }
	l.set(flaky)
	for range 300 {
		if _, err := get(""); err == nil {
			ok++
		}
	}
	assert.Equal(t, 300, failed+ok)
	assert.Greater(t, ok, 50)
	assert.Greater(t, server.asked-ok, 50, "the server did its part, and nobody heard of it")
	assert.Greater(t, 300-server.asked, 50)
}

func TestWatchesBreakWithTheirLink(t *testing.T) {
	for name, row := range map[string]struct {
		weather weather
		after   time.Duration // when they break
	}{
		"where requests fail":                    {failing, 0},
		"with the process":                       {dead, 0},
		"when a silent connection is given up":   {hanging, givesUp},
		"not where some requests fail, but here": {flaky, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, _, get := testLink(t)
				var open []bool
				l.watching = func(o bool) { open = append(open, o) }
				resp, err := get("?watch=true")
				require.NoError(t, err)
				l.set(row.weather)
				begin := time.Now()
				time.AfterFunc(time.Minute, func() { l.set(failing) })
				_, err = resp.Body.Read(make([]byte, 10))
				assert.Error(t, err)
				assert.Equal(t, row.after, time.Since(begin))
				assert.NoError(t, resp.Body.Close())
				assert.Equal(t, []bool{true, false}, open)
			})
		})
	}
}
