package admission_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/meta"
)

// creators labels each new object with its creator. Nobody else may change or delete the object.
type creators struct{}

func (creators) Admit(ctx context.Context, a *admission.Attributes) error {
	if a.Operation == admission.Create && a.Subresource == "" {
		m := a.Object.GetObjectMeta()
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels["creator"] = store.UserOf(ctx).Name
	}
	return nil
}

func (creators) Validate(ctx context.Context, a *admission.Attributes) error {
	switch options := a.Options.(type) {
	case meta.WriteOptions:
		if options.FieldManager == "" {
			a.Warn("name a field manager")
		}
	case meta.DeleteOptions:
		if options.Preconditions == nil {
			a.Warn("name the uid of the object to delete")
		}
	}
	guarded := []admission.Operation{admission.Update, admission.Delete}
	user := store.UserOf(ctx).Name
	if slices.Contains(guarded, a.Operation) && a.Old != nil && a.Old.GetObjectMeta().Labels["creator"] != user {
		details := &meta.StatusDetails{Name: a.Name, Kind: a.Resource.Info().Plural}
		return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, details, user+" is not the creator of "+a.Name)
	}
	return nil
}

// An Interface decides about requests and about calls of the Go API, but not about calls with a context of Below.
func ExampleInterface() {
	var plugin admission.Interface = creators{}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{
		Admission:    plugin,
		Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"1": {Name: "jane"}, "2": {Name: "joe"}}),
	})
	defer api.Close()
	serve := func(token, method, path, body string) {
		r := httptest.NewRequest(method, "/apis/coordination.k8s.io/v1/namespaces/default/leases"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, r)
		fmt.Println(answer.Code, answer.Header().Get("Warning"))
	}

	serve("1", "POST", "", `{"metadata":{"name":"a"}}`)
	ctx := context.Background()
	l, err := lease.In(st).Get(ctx, "default", "a")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Labels)
	serve("2", "PUT", "/a", `{"metadata":{"name":"a","resourceVersion":"1001"}}`)
	serve("2", "DELETE", "/a", "")
	_, err = lease.In(st).Delete(ctx, "default", "a", store.DeleteOptions{})
	fmt.Println(err)

	below := admission.Below(ctx)
	_, err = lease.In(st).Delete(below, "default", "a", store.DeleteOptions{})
	fmt.Println(admission.IsBelow(below), err)

	// Output:
	// 201 299 - "name a field manager"
	// map[creator:jane]
	// 403 299 - "name a field manager"
	// 403 299 - "name the uid of the object to delete"
	// system:apiserver is not the creator of a
	// true <nil>
}
