package cluster_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// clientAs is clientOf for a user, whom the administrator impersonates.
func clientAs(t *testing.T, api *apitest.API, user string, groups ...string) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: api.Host(), Transport: api.Transport(), QPS: -1, Impersonate: rest.ImpersonationConfig{UserName: user, Groups: groups},
	})
	require.NoError(t, err)
	return client
}

// A kubelet gets certificates of its own node only (upstream: plugin/pkg/admission/noderestriction, admitCSR).
func TestANodeAsksForCertificatesOfItsOwn(t *testing.T) {
	api, _ := newServer(t, cluster.Options{Reviews: true, Plugins: []string{"NodeRestriction"}})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	ask := func(client *kubernetes.Clientset, signer, subject string) error {
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
			Subject: pkix.Name{CommonName: subject, Organization: []string{"system:nodes"}},
		}, key)
		require.NoError(t, err)
		_, err = client.CertificatesV1().CertificateSigningRequests().Create(t.Context(), &certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "csr-"},
			Spec: certificatesv1.CertificateSigningRequestSpec{
				Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: signer, Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature},
			},
		}, metav1.CreateOptions{})
		return err
	}
	node := clientAs(t, api, "system:node:n1", "system:nodes")
	for _, signer := range []string{certificatesv1.KubeletServingSignerName, certificatesv1.KubeAPIServerClientKubeletSignerName} {
		require.NoError(t, ask(node, signer, "system:node:n1"))
		assert.ErrorContains(t, ask(node, signer, "system:node:n2"), "can only create a node CSR with CN=system:node:n1", signer)
		assert.NoError(t, ask(clientAs(t, api, "jane"), signer, "system:node:n2"), "the plugin is about kubelets")
	}
	assert.NoError(t, ask(node, "example.com/signer", "system:node:n2"), "a signer that makes no certificates of kubelets")
}
