package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// report is a kind in a group, and note is the form that it has in another one: text is note there.
type report struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Text            string `json:"text,omitempty" protobuf:"2"`
}

type note struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Note            string `json:"note,omitempty" protobuf:"2"`
}

const (
	reports = "/apis/reports.example.com/v1/namespaces/default/reports"
	notes   = "/apis/notes.example.com/v1/namespaces/default/reports"
)

func newReportServer(t testing.TB, change ...func(*httpapi.Options)) *server {
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "reports.example.com", Kind: "Report"},
		New:      func() kinds.Object { return &report{} },
		Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{Unconditional: true}},
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
		Native: &kind.Native[meta.Object]{Aliases: []kind.Alias[meta.Object]{{Group: "notes.example.com", Version: kind.Version[meta.Object]{
			Name: "v1",
			Form: kind.Form{New: func() kinds.Object { return &note{} },
				Convert: kind.ConvertBy(func(o kinds.Object) kinds.Object {
					r := o.(*report)
					return &note{TypeMeta: r.TypeMeta, ObjectMeta: r.ObjectMeta, Note: r.Text}
				}, func(o kinds.Object) kinds.Object {
					n := o.(*note)
					return &report{TypeMeta: n.TypeMeta, ObjectMeta: n.ObjectMeta, Text: n.Note}
				})},
			Validate: func(o, _ kinds.Object) field.Errors {
				if text := o.(*report).Text; strings.Contains(text, "!") {
					return field.Errors{field.Invalid("note", text, "must be calm")}
				}
				return nil
			},
		}}}},
	})
	require.NoError(t, err)
	opts := httpapi.Options{Kinds: []kind.Kind{k, k.Aliases()[0]}}
	for _, f := range change {
		f(&opts)
	}
	return newServerWith(t, store.Options{}, opts)
}

func TestKindInTwoGroupsIsOneCollection(t *testing.T) {
	s := newReportServer(t)
	var paths []string
	for _, group := range []string{"reports.example.com", "notes.example.com"} {
		doc := s.must(t, "GET", "/apis/"+group+"/v1", "")
		for _, r := range doc.at("resources").([]any) {
			paths = append(paths, group+" "+r.(map[string]any)["name"].(string))
		}
	}
	assert.Equal(t, []string{"reports.example.com reports", "notes.example.com reports"}, paths)

	start := fmt.Sprint(s.version())
	inReports, inNotes := s.watch(t, reports+"?watch=1&resourceVersion="+start), s.watch(t, notes+"?watch=1&resourceVersion="+start)
	made := s.must(t, "POST", notes, `{"metadata":{"name":"a"},"note":"calm"}`)
	assert.Equal(t, "notes.example.com/v1", made.at("apiVersion"))
	assert.Equal(t, "calm", made.at("note"))
	read := s.must(t, "GET", reports+"/a", "")
	assert.Equal(t, "reports.example.com/v1", read.at("apiVersion"))
	assert.Equal(t, "calm", read.at("text"))
	assert.Nil(t, read.at("note"))
	assert.Equal(t, made.at("metadata", "resourceVersion"), read.at("metadata", "resourceVersion"))
	for _, watch := range []*stream{inReports, inNotes} {
		event, err := watch.next()
		require.NoError(t, err)
		assert.Equal(t, "ADDED a", event)
	}

	// Each group has its own rules and field managers.
	s.must(t, "PUT", reports+"/a?fieldManager=loud", `{"metadata":{"name":"a"},"text":"loud!"}`)
	answer := s.do(t, "PUT", notes+"/a", `{"metadata":{"name":"a","labels":{"x":"y"}},"note":"loud!"}`)
	assert.Equal(t, http.StatusUnprocessableEntity, answer.Code)
	assert.Equal(t, `Report.reports.example.com "a" is invalid: note: Invalid value: "loud!": must be calm`, answer.tree(t).at("message"), "upstream names the first group of the object")
	patched := s.must(t, "PATCH", notes+"/a?fieldManager=calm", `{"note":"calm again"}`, "Content-Type", "application/merge-patch+json")
	assert.Equal(t, "calm again", patched.at("note"))
	assert.Equal(t, []string{`calm Update notes.example.com/v1 <nil> true {"f:note":{}}`}, managersOf(t, patched))
	list := s.must(t, "GET", notes, "")
	assert.Equal(t, "notes.example.com/v1", list.at("apiVersion"))
	assert.Len(t, list.at("items"), 1)

	s.must(t, "DELETE", reports+"/a", "")
	missing := s.do(t, "GET", notes+"/a", "")
	assert.Equal(t, `reports.notes.example.com "a" not found`, missing.tree(t).at("message"))
}

// TestAliasIsServedWithoutItsOrigin: a request of a kind whose collection is not made yet asked for the kind of the first group.
func TestAliasIsServedWithoutItsOrigin(t *testing.T) {
	s := newReportServer(t, func(o *httpapi.Options) { o.Kinds = o.Kinds[1:] })
	assert.Empty(t, s.must(t, "GET", notes, "").at("items"))
	s.must(t, "POST", notes, `{"metadata":{"name":"a"},"note":"calm"}`)
	assert.Len(t, s.must(t, "GET", notes, "").at("items"), 1)
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", reports, "").Code)
}
