package skim_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/skim"
	"github.com/kubecoord/kubecoord/store"
)

const (
	protobuf = "application/vnd.kubernetes.protobuf"
	table    = "application/json;as=Table;v=v1;g=meta.k8s.io"
	partial  = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	leases   = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	body     = `{"metadata":{"name":"a","annotations":{"uid":"x","q":"\"}\\"},"labels":{"name":"y"}},"spec":{"holderIdentity":"k8s.io/initial-events-end"}}`
)

// asked returns the answer of a new API that holds the Lease a.
func asked(t testing.TB, method, target, accept string) []byte {
	t.Helper()
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()
	do := func(method, target, body, accept string) []byte {
		req, err := http.NewRequest(method, "http://skim"+target, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Accept", accept)
		resp, err := api.Transport().RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return data
	}
	do("POST", leases, body, "")
	return do(method, target, "", accept)
}

func TestObjectTellsWhatAnAnswerIsAbout(t *testing.T) {
	a := skim.Head{Kind: "Lease", Namespace: "default", Name: "a", ResourceVersion: 1001}
	as := func(kind string, h skim.Head) skim.Head { h.Kind = kind; return h }
	for _, tt := range []struct {
		name, method, path, accept string
		want                       skim.Head
	}{
		{"an object", "GET", leases + "/a", "", a},
		{"an object in protobuf", "GET", leases + "/a", protobuf, a},
		{"an object for people", "GET", leases + "/a?pretty=true", "", a},
		{"a table", "GET", leases + "/a", table, skim.Head{Kind: "Table", ResourceVersion: 1001}},
		{"metadata", "GET", leases + "/a", partial, as("PartialObjectMetadata", a)},
		{"a list", "GET", leases, "", skim.Head{Kind: "LeaseList", ResourceVersion: 1001}},
		{"a list in protobuf", "GET", leases, protobuf, skim.Head{Kind: "LeaseList", ResourceVersion: 1001}},
		{"an error", "GET", leases + "/b", "", skim.Head{Kind: "Status", Name: "b"}},
		{"an error in protobuf", "GET", leases + "/b", protobuf, skim.Head{Kind: "Status", Name: "b"}},
		{"a path that leads nowhere", "GET", "/apis/coordination.k8s.io/v7/leases/b", "", skim.Head{Kind: "Status"}},
		{"a deletion", "DELETE", leases + "/a", "", skim.Head{Kind: "Status", Name: "a"}},
		{"a deletion in protobuf", "DELETE", leases + "/a", protobuf, skim.Head{Kind: "Status", Name: "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := skim.Object(asked(t, tt.method, tt.path, tt.accept))
			if tt.method == "DELETE" || tt.want.Namespace != "" {
				assert.Len(t, got.UID, 36)
			} else {
				assert.Empty(t, got.UID)
			}
			got.UID = ""
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestEventTellsWhatAWatchSends(t *testing.T) {
	watch := leases + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
	for _, tt := range []struct {
		name, accept string
		want         skim.Head
	}{
		{"JSON", "", skim.Head{Kind: "Lease", Namespace: "default", Name: "a"}},
		{"protobuf", protobuf, skim.Head{Kind: "Lease", Namespace: "default", Name: "a"}},
		{"a table", table, skim.Head{Kind: "Table"}},
		{"metadata", partial, skim.Head{Kind: "PartialObjectMetadata", Namespace: "default", Name: "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var heads []skim.Head
			for data := asked(t, "GET", watch, tt.accept); len(data) > 0; {
				size := strings.IndexByte(string(data), '\n') + 1
				if tt.accept == protobuf {
					size = int(binary.BigEndian.Uint32(data)) + 4
				}
				heads = append(heads, skim.Event(data[:size], tt.accept == protobuf))
				data = data[size:]
			}
			require.GreaterOrEqual(t, len(heads), 2)
			added, end := heads[0], heads[1]
			added.UID = ""
			tt.want.Type, tt.want.ResourceVersion = "ADDED", 1001
			assert.Equal(t, tt.want, added)
			assert.Equal(t, skim.Head{Type: "BOOKMARK", Kind: tt.want.Kind, ResourceVersion: 1001, InitialEnd: true}, end)
		})
	}
}

// The beginning of a document gives fewer values, but no other ones.
func TestBeginningTellsNothingWrong(t *testing.T) {
	for _, accept := range []string{"", protobuf, table} {
		data := asked(t, "GET", leases+"/a", accept)
		whole := skim.Object(data)
		for n := range data {
			got := skim.Object(data[:n])
			for _, member := range [][2]string{{got.Kind, whole.Kind}, {got.Namespace, whole.Namespace}, {got.Name, whole.Name}, {got.UID, whole.UID}} {
				assert.Contains(t, []string{"", member[1]}, member[0], "%q", data[:n])
			}
			assert.Contains(t, []uint64{0, whole.ResourceVersion}, got.ResourceVersion, "%q", data[:n])
		}
	}
}

func FuzzSkimComesToAnEnd(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ADDED","object":{"kind":"Lease","metadata":{"name":"a","resourceVersion":"1001"}}}`, `{"a":,}`, `{"metadata":[{"name":"a"}]}`, `{"kind":{}}`, `"`, `{"\\":"\\"`,
		string(asked(f, "GET", leases+"/a", protobuf)), string(asked(f, "GET", leases, "")),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skim.Object(data)
		skim.Event(data, false)
		skim.Event(data, true)
	})
}

func BenchmarkEvent(b *testing.B) {
	object := asked(b, "GET", leases+"/a", "")
	frame := append(append([]byte(`{"type":"ADDED","object":`), object...), '}', '\n')
	b.ReportAllocs()
	for b.Loop() {
		skim.Event(frame, false)
	}
}
