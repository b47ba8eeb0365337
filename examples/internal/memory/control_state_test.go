package memory

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

func TestFixturesAreLoadedAndDumpedInEachForm(t *testing.T) {
	for _, row := range []struct{ name, accept, query, mediaType, has string }{
		{"YAML", "", "", typeYAML, "kind: List\n"},
		{"JSON", "application/json", "", typeJSON, `"kind": "List"`},
		{"a stream", "*/*", "?form=stream", typeYAML, "---\n"},
		{"an archive", "", "?form=txtar", typeTxtar, "-- "},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := startDebug(t)
			code, _, text := d.do("POST", "/debug/fixtures", someLeases, "Content-Type", typeYAML)
			require.Equal(t, 200, code, "%s", text)
			var loaded struct{ ResourceVersion string }
			require.NoError(t, json.Unmarshal([]byte(text), &loaded))
			assert.Equal(t, "4712", loaded.ResourceVersion)
			assert.Equal(t, 200, d.code("GET", leases+"/leader", ""))

			_, header, dumped := d.do("GET", "/debug/fixtures"+row.query, "", "Accept", row.accept)
			assert.Equal(t, row.mediaType, header.Get("Content-Type"))
			assert.Contains(t, dumped, row.has)
			other := startDebug(t)
			code, _, text = other.do("POST", "/debug/fixtures", dumped, "Content-Type", row.mediaType)
			require.Equal(t, 200, code, "%s", text)
			_, _, again := other.do("GET", "/debug/fixtures"+row.query, "", "Accept", row.accept)
			assert.Equal(t, dumped, again)
		})
	}
	d := startDebug(t)
	d.must(201, "POST", leases, named("a"), nil)
	_, _, golden := d.do("GET", "/debug/fixtures?omitServerFields=true", "")
	assert.NotContains(t, golden, "uid")
}

func TestHistoryTellsWhatWasChanged(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", leases, named("a"), nil)
	d.must(201, "POST", "/api/v1/namespaces/default/endpoints", named("e"), nil)
	d.must(200, "DELETE", leaseA, "", nil)
	type history struct {
		Changes []struct {
			Type, ResourceVersion, Resource string
			Object                          struct {
				Kind, APIVersion string
				Metadata         struct{ Name, ResourceVersion string }
			}
		}
		Complete        bool
		ResourceVersion string
	}
	lines := func(query string) (out []string, h history) {
		d.must(200, "GET", "/debug/history"+query, "", &h)
		for _, c := range h.Changes {
			assert.Equal(t, c.ResourceVersion, c.Object.Metadata.ResourceVersion)
			assert.NotEmpty(t, c.Object.APIVersion)
			out = append(out, c.Type+" "+c.Resource+" "+c.Object.Metadata.Name+" "+c.ResourceVersion)
		}
		return out, h
	}
	all, h := lines("")
	assert.Equal(t, []string{"ADDED leases a 1001", "ADDED endpoints e 1002", "DELETED leases a 1003"}, all)
	assert.True(t, h.Complete)
	assert.Equal(t, "1003", h.ResourceVersion)
	for query, want := range map[string][]string{
		"?last=1":             all[2:],
		"?resource=endpoints": all[1:2],
		"?name=a&last=1":      all[2:],
		"?namespace=none":     nil,
	} {
		got, _ := lines(query)
		assert.Equal(t, want, got, query)
	}
	_, h = lines("?last=1")
	assert.False(t, h.Complete)

	d.must(204, "DELETE", "/debug/history", "", nil)
	code, _, text := d.do("GET", leases+"?watch=true&resourceVersion=1001", "")
	assert.Equal(t, 200, code)
	assert.Contains(t, text, `"code":410`)
	got, h := lines("")
	assert.Empty(t, got)
	assert.False(t, h.Complete)
}

func TestRequestsAreListedAndForgotten(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", "/debug/faults", `{"verb":"get","answer":{"code":500}}`, nil)
	d.must(201, "POST", leases+"?fieldManager=me", named("a"), nil)
	d.must(500, "GET", leaseA, "", nil)
	d.code("POST", leases, "\xff\xfe", "Content-Type", "application/vnd.kubernetes.protobuf")
	var list struct{ Requests []requestView }
	d.must(200, "GET", "/debug/requests", "", &list)
	require.Len(t, list.Requests, 3)
	create, get, binary := list.Requests[0], list.Requests[1], list.Requests[2]
	assert.Equal(t, "create leases default/a 201", create.Text)
	assert.Equal(t, named("a"), create.Body)
	assert.Equal(t, map[string][]string{"fieldManager": {"me"}}, create.Query)
	assert.Equal(t, "Go-http-client/1.1", create.UserAgent)
	assert.True(t, create.Done)
	assert.Equal(t, "get leases default/a 500", get.Text)
	assert.Equal(t, []int{1}, get.Faults)
	assert.Equal(t, []byte("\xff\xfe"), binary.BodyBase64)
	d.must(200, "GET", "/debug/requests?last=1", "", &list)
	require.Len(t, list.Requests, 1)
	assert.Equal(t, binary.Text, list.Requests[0].Text)
	d.must(204, "DELETE", "/debug/requests", "", nil)
	d.must(200, "GET", "/debug/requests", "", &list)
	assert.Empty(t, list.Requests)
}

func TestVerdictTellsOfTwoHolders(t *testing.T) {
	d := startDebug(t)
	var v struct {
		OK         bool
		TwoHolders []apitest.Finding
	}
	d.must(200, "GET", "/debug/verdict", "", &v)
	assert.True(t, v.OK)
	d.must(201, "POST", leases, named("main"), nil)
	d.hold("first")
	d.hold("second")
	d.must(200, "GET", "/debug/verdict", "", &v)
	assert.False(t, v.OK)
	require.Len(t, v.TwoHolders, 1)
	assert.Contains(t, v.TwoHolders[0].Text, "two held the Lease default/main at once")
	assert.NotEmpty(t, v.TwoHolders[0].Excerpt)
}
