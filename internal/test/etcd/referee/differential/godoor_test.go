package differential

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// Writes through the Go API are held against requests that say the same.
func TestManagedFieldsOfTheGoAPIEqualRequests(t *testing.T) {
	typ := codec.MustCompile(reflect.TypeFor[lease.Lease](), "v1")
	eachCaseInABubble(t, 80, func(g generator) string {
		w := &writers{generator: g, pair: newPair(), resource: resources[0], version: "v1"}
		defer w.close()
		leases := lease.In(w.st)
		for range 30 {
			text, _ := json.Marshal(w.replacement())
			manager, dryRun := w.manager(), g.percent(10)
			c := call{method: http.MethodPut, path: w.path(true), contentType: typeJSON, accept: typeJSON, body: string(text), query: url.Values{"fieldManager": {manager}}}
			if dryRun {
				c.query.Set("dryRun", "All")
			}
			var l lease.Lease
			if _, err := typ.DecodeJSON([]byte(w.ours.real(c.body)), &l, false); err != nil {
				return fmt.Sprintf("%v: %s", err, c.body)
			}
			l.Namespace = "default"
			var out *lease.Lease
			var err error
			if g.percent(20) {
				c.method, c.path = http.MethodPost, w.path(false)
				out, err = leases.Create(t.Context(), &l, store.CreateOptions{FieldManager: manager, DryRun: dryRun})
			} else {
				out, err = leases.Update(t.Context(), &l, store.UpdateOptions{FieldManager: manager, DryRun: dryRun})
			}
			if err == nil {
				w.ours.named(string(out.UID)) // also of objects that are not stored
			}
			want := w.theirs.answer(w.refer, c)
			w.history = append(w.history, fmt.Sprintf("%d %s", want.code, c))
			if wrong := w.explain(differs("errors differ", w.ours.named(errorText(err)), statusMessage(want))); wrong != "" {
				return wrong
			}
			if wrong := w.look(); wrong != "" {
				return wrong
			}
			time.Sleep(pick(g, 0, 300*time.Millisecond, time.Second))
		}
		return ""
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// statusMessage returns the message of an error answer, or "".
func statusMessage(a answer) string {
	if a.code < http.StatusBadRequest {
		return ""
	}
	var s metav1.Status
	_ = json.Unmarshal([]byte(a.body), &s)
	return s.Message
}
