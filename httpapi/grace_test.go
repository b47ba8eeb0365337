package httpapi_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The answers come from a kube-apiserver to the same requests for a Pod with a node.
func TestGraceOfADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
			d.Native = &kind.Native[meta.Object]{ReturnsObject: true}
			d.Strategy.Update.Counts = func(_, _ kinds.Object) bool { return false }
			d.Strategy.Delete.Grace = func(_ kinds.Object, requested *int64) int64 {
				if requested == nil {
					return 30
				}
				return *requested
			}
		})}})
		s.must(t, "POST", widgets, widgetNamed("b"))
		w := s.watch(t, widgets+"?watch=true")
		w.wants("ADDED b")
		began := time.Now()
		wants := func(query, want string) {
			t.Helper()
			o := s.must(t, "DELETE", widgets+"/b"+query, "")
			ends, _ := time.Parse(time.RFC3339, fmt.Sprint(o.at("metadata", "deletionTimestamp")))
			assert.Equal(t, want, fmt.Sprint(o.at("metadata", "generation"), " ", ends.Sub(began), " ", o.at("metadata", "deletionGracePeriodSeconds"),
				" @", o.at("metadata", "resourceVersion")), query)
		}
		wants("?dryRun=All", "2 30s 30 @1001")
		wants("", "2 30s 30 @1002")
		wants("", "2 30s 30 @1002")
		wants("?gracePeriodSeconds=60", "2 30s 30 @1002")
		wants("?gracePeriodSeconds=5", "2 5s 5 @1003")
		time.Sleep(3 * time.Second)
		wants("?gracePeriodSeconds=-1", "2 3s 1 @1004")
		wants("?gracePeriodSeconds=0&dryRun=All", "2 3s 0 @1004")
		wants("?gracePeriodSeconds=0", "2 3s 0 @1006")
		w.wants("MODIFIED b", "MODIFIED b", "MODIFIED b", "MODIFIED b", "DELETED b")

		s.must(t, "POST", widgets, `{"metadata":{"name":"b","finalizers":["x/y"]}}`)
		began = time.Now().Truncate(time.Second) // as in the answers; the deletion above has taken its time
		wants("", "2 30s 30 @1008")
		wants("?propagationPolicy=Foreground", "2 30s 30 @1008")
		wants("?gracePeriodSeconds=0", "2 0s 0 @1009")
		wants("?gracePeriodSeconds=0", "2 0s 0 @1009")
		wants("?propagationPolicy=Foreground", "2 0s 0 @1010")
		s.must(t, "PATCH", widgets+"/b", `{"metadata":{"finalizers":null}}`, "Content-Type", "application/merge-patch+json")
		w.wants("ADDED b", "MODIFIED b", "MODIFIED b", "MODIFIED b", "DELETED b")
	})
}
