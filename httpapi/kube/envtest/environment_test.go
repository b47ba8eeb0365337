package envtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// widgets is a definition.
func widgets() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}},
			}},
		},
	}
}

func TestStartServesOverTLS(t *testing.T) {
	env := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}}
	cfg, err := env.Start()
	require.NoError(t, err)
	defer func() { assert.NoError(t, env.Stop()) }()
	assert.NotEmpty(t, env.CRDs[0].UID)

	fromFile, err := clientcmd.RESTConfigFromKubeConfig(env.KubeConfig)
	require.NoError(t, err)
	for name, cfg := range map[string]*rest.Config{"config": cfg, "copy": rest.CopyConfig(cfg), "kubeconfig": fromFile} {
		t.Run(name, func(t *testing.T) {
			client, err := kubernetes.NewForConfig(cfg)
			require.NoError(t, err)
			_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			require.NoError(t, err)
			objects, err := dynamic.NewForConfig(cfg)
			require.NoError(t, err)
			_, err = objects.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("default").
				Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
				}}, metav1.CreateOptions{})
			require.NoError(t, err)
		})
	}
}

func TestUsersHaveTheRightsOfTheirRoles(t *testing.T) {
	for name, inProcess := range map[string]bool{"over a socket": false, "in process": true} {
		t.Run(name, func(t *testing.T) {
			env := &envtest.Environment{InProcess: inProcess}
			_, err := env.Start()
			require.NoError(t, err)
			defer func() { assert.NoError(t, env.Stop()) }()
			user, err := env.AddUser(envtest.User{Name: "alice", Groups: []string{"developers"}}, nil)
			require.NoError(t, err)
			alice, err := kubernetes.NewForConfig(user.Config())
			require.NoError(t, err)
			_, err = alice.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
			assert.EqualError(t, err, `secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" in the namespace "default"`)
			who, err := alice.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Equal(t, []string{"developers", "system:authenticated"}, who.Status.UserInfo.Groups)

			admin, err := kubernetes.NewForConfig(env.Config)
			require.NoError(t, err)
			_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "developers"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
				Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "developers"}},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			_, err = alice.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
			assert.NoError(t, err)
		})
	}
}
