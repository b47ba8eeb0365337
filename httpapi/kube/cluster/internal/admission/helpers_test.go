package admission

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/webhooks"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
)

// server is an API with all kinds, and its admission.
type server struct {
	testing.TB
	api    *apitest.API
	client *kubernetes.Clientset
	chain  *Chain
}

func newServer(t testing.TB, opts Options, more ...func(*apitest.Options)) *server {
	all, err := scheme.Kinds(clientscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	s := &server{TB: t}
	o := apitest.Options{API: httpapi.Options{
		Kinds: append(all, crd.Definitions()), Parts: []httpapi.Part{httpapi.Controller(crd.Run), func(a *httpapi.API, extended *httpapi.Options) func(context.Context) {
			opts.Calls = webhooks.New(webhooks.Options{Services: Services(a, false, false), Clock: a.Store().Clock()})
			t.Cleanup(opts.Calls.Close)
			s.chain = New(a, opts)
			extended.Admission = s.chain
			return nil
		}},
	}}
	for _, change := range more {
		change(&o)
	}
	s.api = apitest.New(t, o)
	s.client, err = kubernetes.NewForConfig(&rest.Config{Host: s.api.Host(), Transport: s.api.Transport(), QPS: -1})
	require.NoError(t, err)
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic} {
		_, err := s.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return s
}

// runs returns the Options.Runs of the plugins with a text in their names.
func runs(part string) func(string) bool {
	return func(name string) bool { return strings.Contains(name, part) }
}
