package httpapi_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/meta"
)

// admission is an Admission of functions that records its calls.
type decider struct {
	mu              sync.Mutex
	calls           []string
	admit, validate func(*admission.Attributes) error
}

func (a *decider) Admit(ctx context.Context, at *admission.Attributes) error {
	a.record(ctx, "admit", at)
	if a.admit == nil {
		return nil
	}
	return a.admit(at)
}

func (a *decider) Validate(ctx context.Context, at *admission.Attributes) error {
	a.record(ctx, "validate", at)
	if at.Object != nil {
		defer func() { at.Object.GetObjectMeta().Labels = map[string]string{"late": "change"} }() // has no effect
	}
	if a.validate == nil {
		return nil
	}
	return a.validate(at)
}

func (a *decider) record(ctx context.Context, step string, at *admission.Attributes) {
	if at.Old != nil {
		at.Old.GetObjectMeta().Labels = map[string]string{"old": "change"} // has no effect
	}
	resource := at.Resource.Info().Plural
	if at.Subresource != "" {
		resource += "/" + at.Subresource
	}
	options := strings.TrimPrefix(fmt.Sprintf("%T", at.Options), "meta.")
	parts := []string{step, string(at.Operation), resource, at.Kind.Info().Kind, at.Namespace + "/" + at.Name, options}
	if at.Object != nil {
		parts = append(parts, "object")
	}
	if at.Old != nil {
		parts = append(parts, "old")
	}
	if at.DryRun {
		parts = append(parts, "dry")
	}
	if u := store.UserOf(ctx); u.Name != "system:apiserver" {
		parts = append(parts, u.Name, u.UID)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, strings.Join(parts, " "))
}

// taken returns the calls since the last time.
func (a *decider) taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls = nil
	return calls
}

func newAdmittingServer(t *testing.T) (*server, *decider) {
	a := &decider{}
	return newFleetServer(t, func(o *httpapi.Options) {
		o.Admission = a
	}), a
}

// Each write is asked about before it is validated and before it is stored, with the attributes that a kube-apiserver has.
func TestAdmissionIsAskedAboutEachWrite(t *testing.T) {
	s, a := newAdmittingServer(t)
	const (
		fleet      = `{"metadata":{"name":"d"},"spec":{"replicas":1}}`
		mergePatch = "application/merge-patch+json"
		apply      = "application/apply-patch+yaml"
	)
	both := func(call string) []string { return []string{"admit " + call, "validate " + call} }
	for _, step := range []struct {
		name, method, path, body, contentType string
		want                                  []string
	}{
		{"create", "POST", "", fleet, "", both("CREATE fleets Fleet default/d WriteOptions object")},
		{"dry run", "POST", "?dryRun=All", strings.Replace(fleet, `"d"`, `"e"`, 1), "", both("CREATE fleets Fleet default/e WriteOptions object dry")},
		{"invalid", "POST", "", `{"metadata":{"name":"i"},"spec":{"port":-1}}`, "", []string{"admit CREATE fleets Fleet default/i WriteOptions object"}},
		{"update", "PUT", "/d", strings.Replace(fleet, `"replicas":1`, `"replicas":2`, 1), "", both("UPDATE fleets Fleet default/d WriteOptions object old")},
		{"update of nothing", "PATCH", "/d", `{}`, mergePatch, both("UPDATE fleets Fleet default/d WriteOptions object old")},
		{"status", "PUT", "/d/status", `{"metadata":{"name":"d"},"status":{"note":"n"}}`, "", both("UPDATE fleets/status Fleet default/d WriteOptions object old")},
		{"restricted write", "PATCH", "/d/port", `{"spec":{"port":1}}`, mergePatch, both("UPDATE fleets/port Fleet default/d WriteOptions object old")},
		{"scale", "PATCH", "/d/scale", `{"spec":{"replicas":3}}`, mergePatch, both("UPDATE fleets/scale Scale default/d WriteOptions object old")},
		{"apply that creates", "PATCH", "/n?fieldManager=m", `{"apiVersion":"example.com/v1","kind":"Fleet","metadata":{"name":"n"}}`, apply, both("CREATE fleets Fleet default/n WriteOptions object")},
		{"binding", "POST", "/d/binding", `{"metadata":{"name":"d"},"harbour":"h"}`, "", both("CREATE fleets/binding Order default/d WriteOptions object")},
		{"token", "POST", "/d/token", `{"metadata":{"name":"d"},"harbour":"h"}`, "", both("CREATE fleets/token Order default/d WriteOptions object")},
		{"missing", "PATCH", "/m", `{}`, mergePatch, nil},
		{"delete", "DELETE", "/n", "", "", both("DELETE fleets Fleet default/n DeleteOptions old")},
		{"eviction", "POST", "/d/eviction", `{"metadata":{"name":"d"}}`, "", both("CREATE fleets/eviction Order default/d WriteOptions object")},
	} {
		answer := s.do(t, step.method, fleets+step.path, step.body, "Content-Type", step.contentType)
		assert.Equal(t, step.want, a.taken(), "%s: %d %s", step.name, answer.Code, answer.Body)
		assert.NotContains(t, string(answer.Body), "change", step.name)
	}

	s.must(t, "POST", fleets, fleet)
	s.must(t, "POST", fleets, `{"metadata":{"name":"k","finalizers":["example.com/keep"]}}`)
	a.taken()
	s.must(t, "DELETE", fleets, "")
	one := "DELETE fleets Fleet default/ DeleteOptions old"
	assert.Equal(t, append(both(one), both(one)...), a.taken(), "one call for each object, without its name")
}

// A refusal of either step is the answer, and changes nothing.
func TestAdmissionRefuses(t *testing.T) {
	s, a := newAdmittingServer(t)
	s.must(t, "POST", fleets, `{"metadata":{"name":"d"},"spec":{"replicas":1}}`)
	before, version := s.do(t, "GET", fleets+"/d", ""), s.version()
	forbidden := meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, nil, "not today")
	for _, refuse := range []func(error){
		func(err error) { a.admit, a.validate = func(*admission.Attributes) error { return err }, nil },
		func(err error) { a.admit, a.validate = nil, func(*admission.Attributes) error { return err } },
	} {
		for _, req := range [][]string{
			{"POST", "", `{"metadata":{"name":"e"}}`}, {"PUT", "/d", `{"metadata":{"name":"d"}}`}, {"DELETE", "/d", ""}, {"DELETE", "", ""},
			{"PUT", "/d/status", `{"metadata":{"name":"d"},"status":{"note":"x"}}`}, {"POST", "/d/eviction", `{"metadata":{"name":"d"}}`},
			{"POST", "/d/binding", `{"metadata":{"name":"d"},"harbour":"h"}`}, {"POST", "?dryRun=All", `{"metadata":{"name":"e"}}`},
		} {
			refuse(forbidden)
			answer := s.do(t, req[0], fleets+req[1], req[2])
			assert.Equal(t, http.StatusForbidden, answer.Code, req)
			assert.Equal(t, "not today", answer.tree(t).at("message"), req)
			refuse(errors.New("broken"))
			answer = s.do(t, req[0], fleets+req[1], req[2])
			assert.Equal(t, http.StatusInternalServerError, answer.Code, req)
			assert.Equal(t, "broken", answer.tree(t).at("message"), req)
		}
	}
	assert.Equal(t, version, s.version())
	assert.Equal(t, before.Body, s.do(t, "GET", fleets+"/d", "").Body)
}

// A change is stored and watched, belongs to no manager, and may break neither the managedFields nor the ownerReferences.
func TestAdmissionChangesAnObject(t *testing.T) {
	s, a := newAdmittingServer(t)
	owner := meta.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u"}
	a.admit = func(at *admission.Attributes) error {
		at.Warn("changed")
		at.Object.(*fleet).Spec.Harbour = "added"
		m := at.Object.GetObjectMeta()
		m.Labels = map[string]string{"admitted": "yes"}
		m.OwnerReferences, m.ManagedFields = []meta.OwnerReference{owner, owner}, []meta.ManagedFieldsEntry{{Operation: "Broken"}}
		return nil
	}
	events := s.watch(t, fleets+"?watch=1&labelSelector=admitted%3Dyes&resourceVersion="+fmt.Sprint(s.version()))
	answer := s.do(t, "POST", fleets+"?fieldManager=m", `{"metadata":{"name":"d"},"spec":{"replicas":1}}`)
	require.Equal(t, http.StatusCreated, answer.Code)
	made := answer.tree(t)
	assert.Equal(t, "added", made.at("spec", "harbour"))
	assert.Len(t, made.at("metadata", "ownerReferences"), 1)
	assert.Equal(t, []string{`m Update example.com/v1 <nil> true {"f:spec":{"f:replicas":{}}}`}, managersOf(t, made))
	warnings := strings.Join(answer.Header["Warning"], "\n")
	assert.Contains(t, warnings, "changed")
	assert.Contains(t, warnings, ".metadata.managedFields was in an invalid state after admission")
	assert.Contains(t, warnings, ".metadata.ownerReferences contains duplicate entries after mutating admission happens")
	event, err := events.next()
	require.NoError(t, err)
	assert.Equal(t, "ADDED d", event)
}

// The context of a request has its user.
func TestAdmissionSeesTheUser(t *testing.T) {
	a := &decider{}
	s := newFleetServer(t, func(o *httpapi.Options) {
		o.Admission = a
		o.Authenticate = func(*http.Request) (httpapi.User, bool) { return httpapi.User{Name: "jane", UID: "7"}, true }
	})
	s.must(t, "POST", fleets, `{"metadata":{"name":"d"}}`)
	assert.Equal(t, "admit CREATE fleets Fleet default/d WriteOptions object jane 7", a.taken()[0])
}

// Admission sees writes of the Go API as it sees requests, with the user of their context.
func TestAdmissionOfTheGoAPI(t *testing.T) {
	a := &decider{}
	s := newServerWith(t, store.Options{}, httpapi.Options{Admission: a})
	ctx, leases := store.WithUser(t.Context(), store.User{Name: "jane", UID: "7"}), lease.In(s.st)
	newLease := func(name string) *lease.Lease {
		return &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
	}
	hold := func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new(*cmp.Or(l.Spec.HolderIdentity, new("")) + "h")
		return nil
	}
	both := func(call string) []string {
		return []string{"admit " + call + " jane 7", "validate " + call + " jane 7"}
	}
	update := both("UPDATE leases Lease default/a WriteOptions object old")
	for _, step := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"create", func() error { _, err := leases.Create(ctx, newLease("a"), store.CreateOptions{}); return err }, both("CREATE leases Lease default/a WriteOptions object")},
		{"update", func() error {
			l, err := leases.Get(ctx, "default", "a")
			if err == nil {
				_, err = leases.Update(ctx, l, store.UpdateOptions{})
			}
			return err
		}, update},
		{"modify", func() error {
			_, err := leases.Modify(ctx, "default", "a", hold, store.UpdateOptions{})
			return err
		}, update},
		{"patch", func() error {
			_, err := leases.Patch(ctx, "default", "a", store.MergePatch, []byte(`{}`), store.PatchOptions{})
			return err
		}, update},
		{"apply", func() error {
			_, err := leases.Apply(ctx, newLease("b"), store.ApplyOptions{FieldManager: "m"})
			return err
		}, both("CREATE leases Lease default/b WriteOptions object")},
		{"dry run", func() error {
			_, err := leases.Delete(ctx, "default", "b", store.DeleteOptions{DryRun: true})
			return err
		}, both("DELETE leases Lease default/b DeleteOptions old dry")},
		{"delete", func() error { _, err := leases.Delete(ctx, "default", "b", store.DeleteOptions{}); return err }, both("DELETE leases Lease default/b DeleteOptions old")},
		{"delete all", func() error {
			_, err := leases.DeleteCollection(ctx, store.DeleteOptions{}, store.ListOptions{})
			return err
		}, both("DELETE leases Lease default/ DeleteOptions old")},
		{"reads", func() error { _, err := leases.List(ctx, store.ListOptions{}); return err }, nil},
	} {
		require.NoError(t, step.do(), step.name)
		assert.Equal(t, step.want, a.taken(), step.name)
	}
	a.admit = func(*admission.Attributes) error {
		return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, nil, "not today")
	}
	_, err := leases.Create(ctx, newLease("a"), store.CreateOptions{})
	require.EqualError(t, err, "not today")
	assert.Equal(t, 0, s.st.Len(lease.Kind()))
}
