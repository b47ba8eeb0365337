package memory

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// submit sends a form of the page, and returns the answer and its body.
func (d tester) submit(path string, fields url.Values) (*httptest.ResponseRecorder, string) {
	d.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.PostForm(d.url+path, fields)
	require.NoError(d.t, err)
	defer resp.Body.Close()
	w := httptest.NewRecorder()
	_, err = w.Body.ReadFrom(resp.Body)
	require.NoError(d.t, err)
	w.Code = resp.StatusCode
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	return w, w.Body.String()
}

// errorsOf returns the errors of a page by their fields: an error follows its field in the label or the form.
func errorsOf(page string) map[string]string {
	errs := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)name="([a-zA-Z]+)"[^>]*>(?:(?:[^<]|<option[^>]*>|</option>|</select>|</label>|<button>|</button>)*)<span class="error" role="alert">([^<]*)</span>`).FindAllStringSubmatch(page, -1) {
		errs[m[1]] = html.UnescapeString(m[2])
	}
	return errs
}

func TestFormsShowMistakesBesideTheirFieldsAndChangeNothing(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", leases, named("a"), nil)
	for _, row := range []struct{ form, field, want string }{
		{"do=fault&verb=peek&action=hang", "verb", `got "peek", want one of get, list`},
		{"do=fault&resource=pods&action=hang", "resource", `got "pods", want one of leases`},
		{"do=fault&verb=get&action=endWatch&value=1", "verb", `got "get", want another one for`},
		{"do=fault&first=-1&action=hang", "first", "got -1, want 1 or more"},
		{"do=fault&first=1e9&action=hang", "first", `got "1e9", want a whole number`},
		{"do=fault&action=answer&value=99", "value", "got 99, want 200 to 599"},
		{"do=fault&action=answer", "value", `got "", want a whole number: a code, such as 409`},
		{"do=fault&action=answer&value=99999999999", "value", `got "99999999999", want a whole number`},
		{"do=fault&action=delay&value=soon", "value", `got "soon", want a duration such as "1.5s" or "10m"`},
		{"do=fault&action=slowEvents&value=-1s", "value", `got "-1s", want a duration`},
		{"do=fault&action=endWatch&value=-1", "value", "got -1, want 0 or more"},
		{"do=fault&action=hang&value=9", "value", `got "9", want nothing: this fault takes no value`},
		{"do=fault&action=explode", "action", `got "explode", want a fault of the list`},
		{"do=fault", "action", `got "", want a fault of the list`},
		{"do=fork&fork=a/b", "fork", `got "a/b", want at most 63 small letters`},
	} {
		values, err := url.ParseQuery(row.form)
		require.NoError(t, err)
		w, page := d.submit("/debug/?filter=x", values)
		assert.Equal(t, 422, w.Code, row.form)
		got := errorsOf(page)
		assert.Len(t, got, 1, row.form)
		assert.Contains(t, got[row.field], row.want, row.form)
	}
	w, page := d.submit("/debug/", url.Values{"do": {"fault"}, "name": {`"><script>evil()</script>`}, "action": {"none"}})
	assert.Equal(t, 422, w.Code)
	assert.NotContains(t, page, "<script>evil")
	assert.Contains(t, page, html.EscapeString(`"><script>evil()</script>`), "what was typed is there again")

	w, page = d.submit("/debug/", url.Values{"do": {"clock"}, "forward": {"9s"}})
	assert.Equal(t, 422, w.Code)
	assert.Contains(t, page, "The clock is the clock of the machine.")
	for _, wrong := range []url.Values{{"do": {"dance"}}, {}} {
		w, _ = d.submit("/debug/", wrong)
		assert.Equal(t, 415, w.Code)
	}
	w, _ = d.submit("/debug/", url.Values{"do": {"fault"}, "name": {strings.Repeat("x", 100<<10)}})
	assert.Equal(t, 400, w.Code)

	var faults struct{ Faults []any }
	d.must(200, "GET", "/debug/faults", "", &faults)
	assert.Empty(t, faults.Faults)
	var forks struct{ Forks []any }
	d.must(200, "GET", "/debug/forks", "", &forks)
	assert.Empty(t, forks.Forks)
	assert.Equal(t, 200, d.code("GET", leaseA, ""))
}

func TestFormsDoWhatTheySay(t *testing.T) {
	d := startDebug(t, func(c *config) { c.clock = "2026-01-01T09:00:00Z" })
	ok := func(path string, fields string) {
		t.Helper()
		values, err := url.ParseQuery(fields)
		require.NoError(t, err)
		w, page := d.submit(path, values)
		require.Equal(t, 303, w.Code, "%s", page)
		assert.Equal(t, "./?filter=a+b", w.Header().Get("Location"), "the filter stays; relative, so that a fork finds itself")
	}
	texts := func() (all []string) {
		var faults struct{ Faults []struct{ Text string } }
		d.must(200, "GET", "/debug/faults", "", &faults)
		for _, f := range faults.Faults {
			all = append(all, f.Text)
		}
		return all
	}
	const page = "/debug/?filter=a+b"
	ok(page, "do=fault&verb=update&resource=leases&namespace=default&name=a&userAgent=me&first=2&action=answer&value=409")
	for _, action := range []string{"delay&value=2s", "slowEvents&value=1s", "endWatch&value=3", "hang", "cutBefore", "cutAfter", "silent", "refused", "expireHistory"} {
		ok(page, "do=fault&name=other&action="+action)
	}
	assert.Equal(t, []string{
		"update leases default/a userAgent=me: answer 409 (first 2)", "any other: delay 2s", "any other: slow events 1s", "any other: end watch after 3",
		"any other: hang", "any other: cut before", "any other: cut after", "any other: partition", "any other: refuse", "any other: expire history",
	}, texts())
	for _, id := range []string{"1", "1", "99", "x"} { // one that is gone is no mistake
		ok(page, "do=remove&id="+id)
	}
	assert.Len(t, texts(), 9)
	assert.NotContains(t, texts()[0], "409")

	ok(page, "do=clock&forward=90s")
	var now struct{ Now string }
	d.must(200, "GET", "/debug/clock", "", &now)
	assert.Equal(t, "2026-01-01T09:01:30Z", now.Now)
	ok(page, "do=fork&fork=copy")
	assert.Equal(t, 200, d.code("GET", "/debug/forks/copy/healthz", ""))
	ok("/debug/forks/copy"+page, "do=fault&action=hang")
	assert.Len(t, texts(), 9, "the fault is of the fork")
	ok(page, "do=reset")
	assert.Empty(t, texts())
}

func TestPageShowsTheLinesThatHaveAllWordsOfTheFilter(t *testing.T) {
	d := startDebug(t)
	for _, name := range []string{"apple", "pear"} {
		d.must(201, "POST", leases, named(name), nil)
	}
	d.must(201, "POST", "/debug/faults", `{"verb":"get","answer":{"code":503}}`, nil)
	d.code("GET", leases+"/pear?pretty=true", "")
	lines := func(filter string) (requests, changes int) {
		_, _, page := d.do("GET", "/debug/?filter="+url.QueryEscape(filter), "", "Accept", "text/html")
		before, after, found := strings.Cut(page, `id="history"`)
		require.True(t, found)
		_, before, _ = strings.Cut(before, `id="requests"`)
		after, _, _ = strings.Cut(after, "</section>")
		return strings.Count(before, "<tr") - strings.Count(before, "<thead><tr"), strings.Count(after, "<tr") - strings.Count(after, "<thead><tr")
	}
	for _, row := range []struct {
		filter            string
		requests, changes int
	}{
		{"", 3, 2}, {"pear", 2, 1}, {"PEAR 503", 1, 0}, {"503 pretty=true", 1, 0}, {"added", 0, 2}, {"leases", 3, 2}, {"apple pear", 0, 0}, {"Go-http-client", 3, 0}, {" <b> ", 0, 0},
	} {
		requests, changes := lines(row.filter)
		assert.Equal(t, []int{row.requests, row.changes}, []int{requests, changes}, "%q", row.filter)
	}
	_, _, page := d.do("GET", "/debug/?filter=503", "", "Accept", "text/html")
	assert.Contains(t, page, `<tr class="bad"`)
	assert.Regexp(t, `<td class="n">1 </td></tr>`, page, "the fault that it has met")
}

func TestPageListsThePresentObjectsOfEachKind(t *testing.T) {
	d := startDebug(t)
	const endpoints = "/api/v1/namespaces/default/endpoints"
	for _, name := range []string{"gone", "here"} {
		d.must(201, "POST", leases, named(name), nil)
	}
	d.must(201, "POST", endpoints, named("e"), nil)
	d.must(200, "DELETE", leases+"/gone", "", nil)
	objects := func(query string) string {
		_, _, page := d.do("GET", "/debug/"+query, "", "Accept", "text/html")
		_, after, found := strings.Cut(page, `id="objects"`)
		require.True(t, found)
		section, _, _ := strings.Cut(after, "</section>")
		return section
	}
	section := objects("")
	assert.Contains(t, section, `<a href="../apis/coordination.k8s.io/v1/leases">leases.coordination.k8s.io</a></th><td class="n">1</td><td><a href="..`+leases+`/here">default/here</a>`)
	assert.Contains(t, section, `<a href="..`+endpoints+`/e">default/e</a>`)
	assert.NotContains(t, section, "gone")
	assert.NotContains(t, section, "leasecandidates", "a kind without objects")
	assert.NotContains(t, objects("?filter=endpoints"), "default/here")
	assert.Contains(t, objects("?filter=nothing"), "No object has “nothing”.")

	for i := range 51 {
		d.must(201, "POST", leases, named(fmt.Sprintf("x%d", i)), nil)
	}
	section = objects("?filter=default/x")
	assert.Equal(t, 50, strings.Count(section, ">default/x"))
	assert.Contains(t, section, "and 1 more")
}
