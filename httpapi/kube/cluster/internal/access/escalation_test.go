package access

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// newServer returns a server with RBAC that has the roles and bindings of a new cluster, and these objects.
func newServer(t *testing.T, objects ...string) *Server {
	t.Helper()
	served, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	var s *Server
	api := httpapi.New(st, httpapi.Options{Kinds: served, Parts: []httpapi.Part{func(a *httpapi.API, opts *httpapi.Options) func(context.Context) {
		s = Extend(a, opts, Options{RBAC: true, Tokens: NewTokens(TokenOptions{})})
		return nil
	}}})
	t.Cleanup(api.Close)
	require.NoError(t, s.Bootstrap(t.Context()))
	for _, o := range objects {
		plural, err := pluralOf([]byte(o))
		require.NoError(t, err)
		k := s.objects("rbac.authorization.k8s.io", plural).Kind()
		u, err := parseBootstrap(k, []byte(o))
		require.NoError(t, err)
		made, err := store.NewTemplate(k, u, store.TemplateOptions{})
		require.NoError(t, err)
		_, err = st.Put(t.Context(), made)
		require.NoError(t, err)
	}
	return s
}

// object returns the object of a JSON text.
func object(t *testing.T, k kind.Kind, text string) meta.Object {
	t.Helper()
	o := k.New(0)
	require.NoError(t, json.Unmarshal([]byte(text), kind.Value(o)))
	return o
}

// The writer may write roles and get pods. One of the writer's bindings names a role that is missing.
func writer() []string {
	const subject = `"subjects":[{"kind":"User","name":"nobody","apiGroup":"rbac.authorization.k8s.io"}]`
	return []string{
		`{"kind":"ClusterRole","metadata":{"name":"make"},"rules":[{"verbs":["create","update","patch"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"]},{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"resourceNames":["view"]}]}`,
		`{"kind":"ClusterRoleBinding","metadata":{"name":"make"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"make"},` + subject + `}`,
		`{"kind":"ClusterRoleBinding","metadata":{"name":"missing"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"access-gone"},` + subject + `}`,
		`{"kind":"RoleBinding","metadata":{"name":"missing","namespace":"access"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"access-gone2"},` + subject + `}`,
	}
}

// The texts are of a kube-apiserver.
func TestARoleMustNotGiveMoreThanItsWriterHas(t *testing.T) {
	s := newServer(t, writer()...)
	const intro = `user "nobody" (groups=["guests" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n"
	const held = `{"metadata":{"name":"ok"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`
	for _, row := range []struct{ name, plural, namespace, object, old, want string }{
		{"permissions that are held", "clusterroles", "", held, "", ""},
		{"many permissions that are not", "clusterroles", "",
			`{"metadata":{"name":"esc"},"rules":[{"verbs":["get","list"],"apiGroups":["",""],"resources":["pods","secrets"]},{"verbs":["get"],"nonResourceURLs":["/x"]},{"verbs":["list"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a","b"]}]}`, "",
			`clusterroles.rbac.authorization.k8s.io "esc" is forbidden: ` + intro +
				`{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["list"]}` + "\n" +
				`{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["list"]}` + "\n" +
				`{APIGroups:[""], Resources:["pods"], Verbs:["list" "list"]}` + "\n" +
				`{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "get" "list"]}` + "\n" +
				`{NonResourceURLs:["/x"], Verbs:["get"]}; resolution errors: [clusterroles.rbac.authorization.k8s.io "access-gone" not found]`},
		{"an aggregation", "clusterroles", "", `{"metadata":{"name":"agg"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`, "",
			`clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule`},
		{"a role", "roles", "access", `{"metadata":{"name":"r","namespace":"access"},"rules":[{"verbs":["get"],"apiGroups":["apps"],"resources":["deployments"]}]}`, "",
			`roles.rbac.authorization.k8s.io "r" is forbidden: ` + intro +
				`{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}; resolution errors: [[roles.rbac.authorization.k8s.io "access-gone" not found, roles.rbac.authorization.k8s.io "access-gone2" not found]]`},
		{"a binding to a role that has more", "rolebindings", "access",
			`{"metadata":{"name":"rb","namespace":"access"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`, "",
			`rolebindings.rbac.authorization.k8s.io "rb" is forbidden: ` + intro + `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}` + "\n" +
				`{NonResourceURLs:["*"], Verbs:["*"]}; resolution errors: [[rolebindings.rbac.authorization.k8s.io "access-gone" not found, rolebindings.rbac.authorization.k8s.io "access-gone2" not found]]`},
		{"a binding to a role that is missing", "rolebindings", "access",
			`{"metadata":{"name":"rb","namespace":"access"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"nope"}}`, "",
			`rolebindings.rbac.authorization.k8s.io "nope" not found`},
		{"a binding to a role that has less", "clusterrolebindings", "",
			`{"metadata":{"name":"crb"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"system:discovery"}}`, "", ""},
		{"a binding to a role that the writer may bind", "clusterrolebindings", "",
			`{"metadata":{"name":"crb"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}}`, "", ""},
		{"an update that changes only finalizers", "clusterroles", "",
			`{"metadata":{"name":"x","finalizers":["a/b"]},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`,
			`{"metadata":{"name":"x"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`, ""},
		{"an update of an aggregation", "clusterroles", "", held, `{"metadata":{"name":"ok"},"aggregationRule":{"clusterRoleSelectors":[{}]}}`,
			`clusterroles.rbac.authorization.k8s.io "ok" is forbidden: must have cluster-admin privileges to use the aggregationRule`},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := s.objects("rbac.authorization.k8s.io", row.plural).Kind()
			a := &admission.Attributes{Operation: admission.Create, Resource: k, Kind: k, Namespace: row.namespace, Object: object(t, k, row.object)}
			if row.old != "" {
				a.Operation, a.Old = admission.Update, object(t, k, row.old)
			}
			ctx := store.WithUser(t.Context(), store.User{Name: "nobody", Groups: []string{"guests", "system:authenticated"}})
			if err := s.Admission().Admit(ctx, a); row.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.want)
			}
			ctx = store.WithUser(t.Context(), store.User{Name: "nobody", Groups: []string{"system:masters"}})
			assert.NoError(t, s.Admission().Admit(ctx, a), "system:masters")
		})
	}
}

func TestARoleWithTooManyCombinationsIsRefused(t *testing.T) {
	s := newServer(t, writer()...)
	names := slices.Repeat([]string{"x"}, 5000)
	k := s.objects("rbac.authorization.k8s.io", "clusterroles").Kind()
	o := k.New(0)
	o.GetObjectMeta().Name = "huge"
	kind.ValueOf[rbacv1.ClusterRole](o).Rules = []rbacv1.PolicyRule{{Verbs: names, APIGroups: names, Resources: names}}
	ctx := store.WithUser(t.Context(), store.User{Name: "nobody"})
	err := s.Admission().Admit(ctx, &admission.Attributes{Operation: admission.Create, Resource: k, Kind: k, Object: o})
	assert.ErrorContains(t, err, errTooManyRules.Error())
}

func TestNewClusterHasItsRolesOnce(t *testing.T) {
	s := newServer(t)
	roles := s.objects("rbac.authorization.k8s.io", "clusterroles")
	assert.Equal(t, 73, roles.Len())
	require.NoError(t, roles.Delete(t.Context(), "", "view", store.DeleteOptions{}))
	require.NoError(t, s.Bootstrap(t.Context()))
	assert.Nil(t, roles.Get("", "view"), "a role that a test deleted")
}
