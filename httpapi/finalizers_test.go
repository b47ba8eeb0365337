package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const finalizerRule = "name is neither a standard finalizer name nor is it fully qualified"

// Only the core group has this rule: Leases, LeaseCandidates and custom resources take a finalizer of one word.
func TestFinalizersOfEndpointsAreStandardOrNameADomain(t *testing.T) {
	const body, patch = `{"metadata":{"name":"a","finalizers":["noslash"]}}`, `{"metadata":{"finalizers":["noslash"]}}`
	for _, row := range []struct{ name, method, path, body, contentType string }{
		{"create", "POST", "", body, typeJSON},
		{"dry run", "POST", "?dryRun=All", body, typeJSON},
		{"create by update", "PUT", "/a", body, typeJSON},
		{"create by apply", "PATCH", "/a?fieldManager=m", `{"apiVersion":"{v}","kind":"{k}","metadata":{"name":"a","finalizers":["noslash"]}}`, "application/apply-patch+yaml"},
		{"update", "PUT", "/there", `{"apiVersion":"{v}","kind":"{k}","metadata":{"name":"there","resourceVersion":"{rv}","finalizers":["noslash"]}}`, typeJSON},
		{"merge patch", "PATCH", "/there", patch, "application/merge-patch+json"},
		{"strategic merge patch", "PATCH", "/there", patch, "application/strategic-merge-patch+json"},
		{"JSON patch", "PATCH", "/there", `[{"op":"add","path":"/metadata/finalizers","value":["noslash"]}]`, "application/json-patch+json"},
		{"apply", "PATCH", "/there?fieldManager=m", `{"apiVersion":"{v}","kind":"{k}","metadata":{"name":"there","finalizers":["noslash"]}}`, "application/apply-patch+yaml"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newWidgetServer(t)
			for _, kind := range []struct{ path, apiVersion, kind string }{
				{endpoints, "v1", "Endpoints"},
				{leases, "coordination.k8s.io/v1", "Lease"},
				{widgets, "example.com/v1", "Widget"},
			} {
				there := s.must(t, "POST", kind.path, `{"apiVersion":"`+kind.apiVersion+`","kind":"`+kind.kind+`","metadata":{"name":"there"}}`)
				version, _ := there.at("metadata", "resourceVersion").(string)
				body := strings.NewReplacer("{v}", kind.apiVersion, "{k}", kind.kind, "{rv}", version).Replace(row.body)
				a := s.do(t, row.method, kind.path+row.path, body, "Content-Type", row.contentType)
				if kind.path != endpoints {
					assert.NotEqual(t, http.StatusUnprocessableEntity, a.Code, a.Body)
					continue
				}
				name := "a"
				if row.path == "/there" || row.path == "/there?fieldManager=m" {
					name = "there"
				}
				assertStatus(t, a, http.StatusUnprocessableEntity, "Invalid",
					`Endpoints "`+name+`" is invalid: metadata.finalizers[0]: Invalid value: "noslash": `+finalizerRule)
				cause := map[string]any{
					"reason": "FieldValueInvalid", "message": `Invalid value: "noslash": ` + finalizerRule, "field": "metadata.finalizers[0]",
				}
				assert.Equal(t, []any{cause}, a.tree(t).at("details", "causes"))
				assert.Equal(t, there, s.must(t, "GET", endpoints+"/there", ""))
			}
		})
	}
}
