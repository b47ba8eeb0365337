package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// list returns n items with commas between them.
func list(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, ",")
}

// TestAnswersGrowWithTheirRequests would take minutes and gigabytes if an answer grew with the
// square of its request.
func TestAnswersGrowWithTheirRequests(t *testing.T) {
	const mostText = 1 << 20
	controller := func(i int) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"K","name":"n","uid":"u%d","controller":true}`, i)
	}
	entry := func(manager string) string {
		return `{"manager":"` + manager + `","operation":"Update","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{"f:x":{}}}}}`
	}
	refs := list(20_000, controller)
	for name, row := range map[string]struct {
		target, body string
		causes       int // 0 is fewer than there are problems, and not none
		problems     int
		message      string // its beginning
	}{
		"owners that are all controllers": {
			leases, `{"metadata":{"name":"b","ownerReferences":[` + refs + `]}}`, 1, 19_999,
			`Lease.coordination.k8s.io "b" is invalid: metadata.ownerReferences: Invalid value: [{"apiVersion":"v1"`,
		},
		"a field manager of control characters": {
			leases + "?fieldManager=" + strings.Repeat("%07", 300_000), leaseNamed("b"), 3, 300_001,
			`CreateOptions.meta.k8s.io "" is invalid: [fieldManager: Too long: may not be more than 128 bytes, fieldManager: Invalid value: "\a\a`,
		},
		"a manager of control characters in the object": {
			leases, `{"metadata":{"name":"b","managedFields":[` + entry(strings.Repeat("\u00ad", 700_000)) + `]}}`, 2, 700_001,
			`Lease.coordination.k8s.io "b" is invalid: [metadata.managedFields[0].manager: Too long: may not be more than 128 bytes, metadata.managedFields[0].manager: Invalid value: "\u00ad`,
		},
		"many bad labels": {
			leases, `{"metadata":{"name":"b","labels":{` + list(10_000, func(i int) string { return fmt.Sprintf(`"!%d":""`, i) }) + `}}}`, 0, 10_000,
			`Lease.coordination.k8s.io "b" is invalid: [metadata.labels: Invalid value: "!0": name part must consist of`,
		},
		"many bad finalizers": {
			leases, `{"metadata":{"name":"b","finalizers":[` + list(10_000, func(i int) string { return fmt.Sprintf(`"!%d"`, i) }) + `]}}`, 0, 10_000,
			`Lease.coordination.k8s.io "b" is invalid: [metadata.finalizers: Invalid value: "!0": name part must consist of`,
		},
		"many owners that lack something": {
			leases, `{"metadata":{"name":"b","ownerReferences":[` + list(15_000, func(i int) string { return fmt.Sprintf(`{"uid":"u%d"}`, i) }) + `]}}`, 0, 45_000,
			`Lease.coordination.k8s.io "b" is invalid: [metadata.ownerReferences[0].apiVersion: Required value: must not be empty, metadata.ownerReferences[0].kind: Required value`,
		},
		"many bad addresses": {
			endpoints, `{"metadata":{"name":"b"},"subsets":[{"addresses":[` + list(20_000, func(int) string { return `{"ip":"x"}` }) + `]}]}`, 0, 20_000,
			`Endpoints "b" is invalid: [subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			a := s.do(t, "POST", row.target, row.body, "Content-Type", typeJSON)
			require.Equal(t, http.StatusUnprocessableEntity, a.Code)
			var status struct {
				Message string
				Details struct{ Causes []struct{ Message string } }
			}
			require.NoError(t, json.Unmarshal([]byte(a.Body), &status))
			assert.Equal(t, row.message, status.Message[:len(row.message)])
			causes := status.Details.Causes
			if row.causes > 0 {
				assert.Len(t, causes, row.causes)
				return
			}
			assert.Less(t, len(causes), row.problems)
			text := 0
			for _, c := range causes[:len(causes)-1] {
				text += len(c.Message)
			}
			assert.Less(t, text, mostText, "there was room for the last one")
			assert.GreaterOrEqual(t, text+len(causes[len(causes)-1].Message), mostText, "there was no room for another")
		})
	}
}

// Each line of a deep document begins with thousands of spaces, so there it stays compact.
func TestDeepDocumentsAreNotIndented(t *testing.T) {
	const depth, fields = 3000, 2000
	deep := strings.Repeat(`{"f:a":`, depth) + `{` + list(fields, func(i int) string { return fmt.Sprintf(`"f:%d":{}`, i) }) + `}` + strings.Repeat(`}`, depth)
	s := newServer(t)
	s.must(t, "POST", leases, `{"metadata":{"name":"deep","managedFields":[{"manager":"m","operation":"Update","apiVersion":"coordination.k8s.io/v1",
		"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":`+deep+`}}}]}}`)
	s.must(t, "POST", leases, `{"metadata":{"name":"flat"}}`)
	compact := s.do(t, "GET", leases+"/deep", "").Body
	require.Greater(t, len(compact), len(deep))

	pretty := s.do(t, "GET", leases+"/deep?pretty=true", "")
	assert.True(t, strings.TrimSpace(compact) == pretty.Body)
	asYAML := s.do(t, "GET", leases+"/deep", "", "Accept", "application/yaml")
	assert.Equal(t, typeJSON, asYAML.Header.Get("Content-Type"), "as of all objects that cannot be written in YAML")
	assert.True(t, compact == asYAML.Body)

	prettyList := s.do(t, "GET", leases+"?pretty=true", "").Body
	assert.True(t, json.Valid([]byte(prettyList)))
	assert.Less(t, len(prettyList), 2*len(compact))
	assert.True(t, strings.Contains(prettyList, "\n        \"name\": \"flat\""), "the others are indented")
	listYAML := s.do(t, "GET", leases, "", "Accept", "application/yaml")
	assert.Equal(t, typeJSON, listYAML.Header.Get("Content-Type"))
}
