package consistency_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/consistency"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// An edit returns the frames to send instead of the nth frame of a watch, counted from 0.
type edit func(n int, frame []byte) [][]byte

// editor is a ResponseWriter that edits the frames of a watch.
type editor struct {
	http.ResponseWriter
	edit   edit
	frames int
}

func (e *editor) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *editor) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; e.frames++ {
		n := bytes.IndexByte(rest, '\n') + 1
		if strings.Contains(e.Header().Get("Content-Type"), "protobuf") {
			n = int(binary.BigEndian.Uint32(rest)) + 4
		}
		for _, frame := range e.edit(e.frames, rest[:n]) {
			if _, err := e.ResponseWriter.Write(frame); err != nil {
				return 0, err
			}
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// broken returns an API that edits the frames of its watches.
func broken(t testing.TB, edit edit) *consistency.API {
	middleware := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("watch") != "" {
				w = &editor{ResponseWriter: w, edit: edit}
			}
			next.ServeHTTP(w, r)
		})
	}
	return consistency.New(t, apitest.Options{API: httpapi.Options{Middleware: middleware}})
}

// lose leaves out the nth frame.
func lose(n int) edit {
	return func(i int, frame []byte) [][]byte {
		if i == n {
			return nil
		}
		return [][]byte{frame}
	}
}

// replaced changes the text of the nth frame.
func replaced(n int, old, new string) edit {
	return func(i int, frame []byte) [][]byte {
		if i == n {
			frame = bytes.ReplaceAll(frame, []byte(old), []byte(new))
		}
		return [][]byte{frame}
	}
}

// asIs sends all frames, cut into pieces of an odd size.
func asIs(_ int, frame []byte) (pieces [][]byte) {
	for ; len(frame) > 7; frame = frame[7:] {
		pieces = append(pieces, frame[:7])
	}
	return append(pieces, frame)
}

// swapped sends the nth frame after the one that follows it.
func swapped(n int) edit {
	var held []byte
	return func(i int, frame []byte) [][]byte {
		switch i {
		case n:
			held = bytes.Clone(frame)
			return nil
		case n + 1:
			return [][]byte{frame, held}
		}
		return [][]byte{frame}
	}
}

// live makes the changes 1003 to 1008.
func live(t testing.TB, leases *store.Collection[lease.Lease]) {
	_, err := leases.Create(t.Context(), leaseOf("c"), storeOptions)
	require.NoError(t, err)
	for _, app := range []string{"x", "y"} {
		_, err = leases.Modify(t.Context(), "default", "c", func(l *lease.Lease) error {
			l.Labels = map[string]string{"app": app}
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
	}
	_, err = leases.Modify(t.Context(), "default", "a", func(l *lease.Lease) error {
		l.Labels = map[string]string{"app": "x"}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	_, err = leases.Delete(t.Context(), "default", "c", store.DeleteOptions{})
	require.NoError(t, err)
	_, err = leases.Create(t.Context(), leaseOf("d"), storeOptions)
	require.NoError(t, err)
}

// watched returns the Report of one watch, opened after a and b were created and before live ran.
func watched(t *testing.T, query, accept string, edit edit) (verdict consistency.Report) {
	synctest.Test(t, func(t *testing.T) {
		api := broken(t, edit)
		leases := lease.In(api.Store())
		for _, name := range []string{"a", "b"} {
			_, err := leases.Create(t.Context(), leaseOf(name), storeOptions)
			require.NoError(t, err)
		}
		d := doorTo(api)
		d.watch(t, "/apis/coordination.k8s.io/v1/namespaces/default/leases?watch=true"+query, "Accept", accept)
		live(t, leases)
		synctest.Wait()
		verdict = api.Report()
	})
	return verdict
}

const (
	fromNow     = "&resourceVersion=1002"
	withInitial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)

func TestReportAcceptsCorrectWatches(t *testing.T) {
	for name, accept := range map[string]string{
		"JSON": "application/json", "protobuf": "application/vnd.kubernetes.protobuf;stream=watch",
		"table": "application/json;as=Table;v=v1;g=meta.k8s.io", "metadata": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
	} {
		for query, events := range map[string]int{
			fromNow: 6, withInitial: 9, "&resourceVersion=0": 8, "&resourceVersion=1001": 7, "": 8,
			fromNow + "&labelSelector=app%3Dx": 3, withInitial + "&labelSelector=!app": 7, fromNow + "&fieldSelector=metadata.name%3Da": 1,
			"&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0": 6,
			"&includeObject=None": 8,
		} {
			t.Run(name+" "+query, func(t *testing.T) {
				v := watched(t, query, accept, asIs)
				assert.Empty(t, v.Findings)
				assert.Equal(t, []int{8, events, 1}, []int{v.Changes, v.Events, v.Watches})
			})
		}
	}
}

func TestReportFindsAMissingEventInEveryFormat(t *testing.T) {
	for name, accept := range map[string]string{
		"JSON": "application/json", "protobuf": "application/vnd.kubernetes.protobuf;stream=watch",
		"table": "application/json;as=Table;v=v1;g=meta.k8s.io", "metadata": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
		"metadata in protobuf": "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
	} {
		t.Run(name, func(t *testing.T) {
			v := watched(t, fromNow, accept, lose(1))
			require.Len(t, v.Findings, 1)
			assert.Contains(t, v.Findings[0], "an event is not the next change of its watch from version 1002: {Type:MODIFIED")
		})
	}
}

func TestReportFindsBrokenWatches(t *testing.T) {
	twice := func(i int, frame []byte) [][]byte {
		if i == 2 {
			return [][]byte{frame, frame}
		}
		return [][]byte{frame}
	}
	failed := func(i int, frame []byte) [][]byte {
		if i == 2 {
			return [][]byte{[]byte(`{"type":"ERROR","object":{"kind":"Status","metadata":{},"code":410}}` + "\n"), frame}
		}
		return [][]byte{frame}
	}
	for name, tt := range map[string]struct {
		query string
		edit  edit
		want  string
	}{
		"an event twice":                               {fromNow, twice, "an event is not the next change of its watch from version 1002: {Type:MODIFIED"},
		"the initial state in part":                    {withInitial, lose(0), "the initial events are not the state at version 1002"},
		"a part of the initial state without bookmark": {"&resourceVersion=0", lose(1), "the events of a watch do not begin with the state of any version"},
		"two events in the wrong order":                {fromNow, swapped(2), "an event is not the next change of its watch from version 1002: {Type:MODIFIED"},
		"a deletion that is missing":                   {fromNow, lose(4), "an event is not the next change of its watch from version 1002: {Type:ADDED"},
		"an object that leaves a selector":             {"&labelSelector=app%3Dx&resourceVersion=1002", lose(1), "an event is not the next change of its watch from version 1002: {Type:ADDED"},
		"a wrong type":                                 {fromNow, replaced(1, "MODIFIED", "ADDED"), "an event is not the next change of its watch from version 1002: {Type:ADDED"},
		"an old version":                               {fromNow, replaced(0, "1003", "1001"), "an event is not the next change of its watch from version 1002: {Type:ADDED"},
		"a future version":                             {fromNow, replaced(5, "1008", "2000"), "an event is not the next change of its watch from version 1002: {Type:ADDED"},
		"another object":                               {fromNow, replaced(0, `"name":"c"`, `"name":"z"`), "an event is not the next change of its watch from version 1002: {Type:ADDED"},
		"an initial event with the wrong object":       {withInitial, replaced(0, `"name":"a"`, `"name":"z"`), "the initial events are not the state at version 1002"},
		"an initial object that changed":               {withInitial, replaced(0, "ADDED", "MODIFIED"), "the initial events are not the state at version 1002"},
		"a bookmark that runs ahead":                   {fromNow, replaced(1, "MODIFIED", "BOOKMARK"), "an event is not the next change of its watch from version 1002: {Type:BOOKMARK"},
		"a bookmark of another state":                  {withInitial, replaced(2, "1002", "1001"), "the initial events are not the state at version 1001"},
		"no version":                                   {fromNow, replaced(1, "resourceVersion", "r"), "an event is not the next change of its watch from version 1002: {Type:MODIFIED"},
		"an event after ERROR":                         {fromNow, failed, "an event is not the next change of its watch from version 1002: {Type:ERROR"},
		"an event that is not selected":                {"&labelSelector=app%3Dx&resourceVersion=1002", replaced(0, "1004", "1003"), "an event is not the next change of its watch from version 1002: {Type:ADDED"},
	} {
		t.Run(name, func(t *testing.T) {
			v := watched(t, tt.query, "application/json", tt.edit)
			require.NotEmpty(t, v.Findings)
			assert.Contains(t, v.Findings[0], tt.want)
		})
	}
}

func TestReportIgnoresTornWatches(t *testing.T) {
	for name, f := range map[string]apitest.Effect{
		"torn":             apitest.EndWatch(2),
		"torn in midframe": apitest.CutWatch(2),
		"torn with ERROR":  apitest.FailWatch(2, meta.Status{Code: 410}),
	} {
		t.Run(name, func(t *testing.T) {
			eachDoor(t, func(t *testing.T, d *door) {
				d.Fault(f)
				d.create(t, "a")
				s := d.watch(t, leases+"?watch=true")
				for _, name := range []string{"b", "c", "d"} {
					d.create(t, name)
				}
				io.Copy(io.Discard, s)
				v := d.Report()
				assert.Empty(t, v.Findings)
				assert.Equal(t, 1, v.Watches)
			})
		})
	}
}
