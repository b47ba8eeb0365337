package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// oddTexts are annotations that YAML folds, quotes or indents in some way.
var oddTexts = []string{
	"", " ", "true", "1e3", "0x1f", "2001-01-01", "~", "- a", "a: b", "#c", "é", "😀", "<&>", "\x01", "\t",
	strings.Repeat("words in a long line ", 20), "line one\nline two\n\n  indented\n", strings.Repeat("x", 2000), "a\u0085b", "\u2028",
	`{"a":"b"}`, strings.Repeat("a b:c ", 30) + "\n" + strings.Repeat("d ", 60),
}

// fillOdd creates leases and blobs whose text is hard to write.
func fillOdd(t *testing.T, s *server, texts []string) {
	for i, text := range texts {
		value, err := json.Marshal(text)
		require.NoError(t, err)
		s.must(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%02d","annotations":{"a/b":%s,"c":%[2]s}},"spec":{"holderIdentity":%[2]s}}`, i, value), "User-Agent", "m")
		s.must(t, "POST", blobs, aBlob(fmt.Sprintf(`"metadata":{"name":"b%02d"},"spec":{"a":%s,"b":[[%[2]s],{"c":[]},{}],"d":[1,-2.5,null,"<<"]}`, i, value)))
	}
}

// The formats that are converted item by item are the conversions of the whole list.
func TestConvertedListIsTheConversionOfTheList(t *testing.T) {
	unreadable := append([]string{"plain", "\x7f"}, oddTexts...) // not in YAML
	for name, texts := range map[string][]string{"none": nil, "one": {"a"}, "odd": oddTexts, "unreadable": unreadable} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			s := newBlobServerWith(t, store.Options{Clock: clock.Func(func() time.Time { return now })}) // for the ages in a Table
			fillOdd(t, s, texts)
			for _, path := range []string{leases, blobs, leases + "?limit=2", blobs + "?limit=2", allLeases} {
				for _, form := range []string{"", asTable, asPartialList, asTable + "?includeObject=Object", asTable + "?includeObject=None"} {
					as, query, _ := strings.Cut(form, "?")
					separator := "?"
					if strings.Contains(path, "?") {
						separator = "&"
					}
					target := path + separator + query
					compact := s.do(t, "GET", target, "", "Accept", typeJSON+as)
					require.Equal(t, http.StatusOK, compact.Code, compact.Body)
					data := []byte(strings.TrimSuffix(compact.Body, "\n"))
					require.True(t, json.Valid(data), compact.Body)

					var indented bytes.Buffer
					require.NoError(t, json.Indent(&indented, data, "", "  "))
					assert.Equal(t, indented.String(), s.do(t, "GET", target+"&pretty=1", "", "Accept", typeJSON+as).Body, target+as)

					want, wantType := compact.Body, typeJSON
					if text, err := yaml.FromJSON(data); err == nil {
						want, wantType = string(text), typeYAML
					}
					if name != "unreadable" {
						assert.Equal(t, typeYAML, wantType)
					}
					got := s.do(t, "GET", target, "", "Accept", typeYAML+as)
					assert.Equal(t, want, got.Body, target+as)
					assert.True(t, strings.HasPrefix(got.Header.Get("Content-Type"), wantType), got.Header)
				}
			}
		})
	}
}

// reader is a client that counts, and calls at with the bytes of each write.
type reader struct {
	header http.Header
	code   int
	size   int
	widest int
	at     func(size int)
}

func (r *reader) Header() http.Header { return r.header }
func (r *reader) WriteHeader(c int)   { r.code = c }
func (r *reader) Write(p []byte) (int, error) {
	r.size += len(p)
	r.widest = max(r.widest, len(p))
	if r.at != nil {
		r.at(r.size)
	}
	return len(p), nil
}

// liveBytes returns how much memory is in use.
func liveBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

var listForms = []string{typeJSON, typeYAML, typeProtobuf, typeJSON + asTable, typeYAML + asTable, typeJSON + asPartialList, typeProtobuf + asPartialList}

// A list of any length is written in pieces, and nothing of it is kept for that.
func TestListOfAnyFormNeedsLittleMemory(t *testing.T) {
	s := newServer(t)
	s.fill(t, 600)
	for _, accept := range listForms {
		for i, query := range []string{"", "?pretty=1"} {
			w := &reader{header: http.Header{}}
			req := newRequest(t, "GET", leases+query, "", "Accept", accept)
			s.api.ServeHTTP(w, req)                                                   // makes the cached bytes of the items
			s.must(t, "POST", leases, leaseNamed(fmt.Sprintf("new-%d%x", i, accept))) // no list is remembered
			total, before, during := w.size, liveBytes(), 0
			w = &reader{header: http.Header{}}
			w.at = func(size int) {
				if during == 0 && size > total/2 {
					during = liveBytes()
				}
			}
			s.api.ServeHTTP(w, req)
			require.Equal(t, http.StatusOK, w.code)
			assert.Greater(t, total, 512<<10)
			assert.LessOrEqual(t, w.widest, 80<<10, accept)
			assert.Less(t, during-before, 256<<10, "%s%s: of %d bytes", accept, query, total)
		}
	}
}

func TestContentLengthOfLists(t *testing.T) {
	s := newServer(t)
	s.fill(t, 200)
	for _, accept := range listForms {
		for query, short := range map[string]bool{"?limit=10": true, "": false} {
			a := s.do(t, "GET", leases+query, "", "Accept", accept)
			require.Equal(t, http.StatusOK, a.Code)
			if length := a.Header.Get("Content-Length"); short || length != "" {
				assert.Equal(t, strconv.Itoa(len(a.Body)), length, "%s%s", accept, query)
			} else {
				assert.NotContains(t, []string{typeJSON, typeProtobuf, typeProtobuf + asPartialList}, accept)
			}
		}
	}
}

// The same list again and again, with and without changes between, is always the list of now.
func TestRememberedListIsTheListOfNow(t *testing.T) {
	s := newServer(t)
	s.fill(t, 50)
	for i := range 12 {
		if i%4 == 3 {
			s.must(t, "POST", leases, leaseNamed(fmt.Sprint("new", i)))
		}
		if i == 6 {
			s.must(t, "POST", endpoints, `{"metadata":{"name":"other"}}`)
		}
		for _, accept := range []string{typeJSON, typeProtobuf} {
			for _, query := range []string{"?x=", "?limit=7&x=", "?labelSelector=!none&x="} {
				got := s.do(t, "GET", leases+query, "", "Accept", accept)
				// Another selector that selects the same.
				want := s.do(t, "GET", leases+query+"&fieldSelector=metadata.name!%3D"+strconv.Itoa(i)+accept[:1], "", "Accept", accept)
				if strings.Contains(query, "limit") {
					assert.Contains(t, got.Body, "l000006")
					continue
				}
				assert.Equal(t, want.Body, got.Body, "%d: %s %s", i, accept, query)
			}
		}
	}
}

// One cache remembers the lists of all versions of a kind, in every format.
func TestRememberedListIsInTheVersionOfItsPath(t *testing.T) {
	s := newServer(t)
	for i, strategy := range []string{"OldestEmulationVersion", "example.com/other"} {
		s.must(t, "POST", candidates, fmt.Sprintf(`{"metadata":{"name":"c%d"},"spec":{"leaseName":"l","binaryVersion":"1.2.3","emulationVersion":"1.2.0","strategy":%q}}`, i, strategy))
	}
	for i := range 4 { // from the second time on the items come from the cache
		for _, version := range []string{"v1beta1", "v1alpha2", "v1alpha1"} {
			for _, accept := range []string{typeJSON, typeProtobuf} {
				path := strings.Replace(candidates, "v1beta1", version, 1)
				got := s.do(t, "GET", path, "", "Accept", accept)
				// Nobody else asks with this selector, which selects all.
				want := s.do(t, "GET", fmt.Sprintf("%s?fieldSelector=metadata.name!=%d%s%s", path, i, version, accept[len(accept)-1:]), "", "Accept", accept)
				require.Equal(t, http.StatusOK, want.Code, want.Body)
				assert.Equal(t, want.Body, got.Body, "%s %s", version, accept)
				if accept == typeJSON {
					assert.Equal(t, version == "v1alpha1", strings.Contains(got.Body, `"preferredStrategies":["example.com/other"]`), got.Body)
				}
			}
		}
	}
}

// A client that leaves while a list is written ends the work, and the answer does not look complete.
func TestEndOfTheContextCutsAList(t *testing.T) {
	s := newServer(t)
	s.fill(t, 600)
	for _, accept := range listForms {
		ctx, cancel := context.WithCancel(t.Context())
		w := &reader{header: http.Header{}, at: func(int) { cancel() }}
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
			s.api.ServeHTTP(w, newRequest(t, "GET", leases, "", "Accept", accept).WithContext(ctx))
		}, accept)
		assert.Less(t, w.size, 300<<10)
	}
}
