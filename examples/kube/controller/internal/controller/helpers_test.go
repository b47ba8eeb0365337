package controller_test

import (
	"context"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	webv1 "github.com/kubecoord/kubecoord/examples/kube/controller/api/v1"
)

// webhookServer returns the server at the address that the environment has put into the configurations.
func webhookServer() webhook.Server {
	o := testEnv.WebhookInstallOptions
	return webhook.NewServer(webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: o.LocalServingCertDir})
}

// namespace makes a namespace of its own for a spec.
func namespace(ctx context.Context) string {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "websites-"}}
	Expect(c.Create(ctx, ns)).To(Succeed())
	return ns.Name
}

// website returns a Website that the webhook accepts.
func website(namespace, name string) *webv1.Website {
	return &webv1.Website{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       webv1.WebsiteSpec{Host: name + ".example.com", Image: "nginx:1.29", Replicas: new(int32(2))},
	}
}

// available returns the status of the condition Available of a Website.
func available(ctx context.Context, site *webv1.Website) func(Gomega) metav1.ConditionStatus {
	return func(g Gomega) metav1.ConditionStatus {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(site), site)).To(Succeed())
		condition := meta.FindStatusCondition(site.Status.Conditions, webv1.ConditionAvailable)
		g.Expect(condition).NotTo(BeNil())
		return condition.Status
	}
}

// setReady makes the replicas of the Deployment of a Website ready, as the controllers of a cluster would.
func setReady(ctx context.Context, site *webv1.Website, n int32) {
	d := &appsv1.Deployment{}
	Expect(c.Get(ctx, client.ObjectKeyFromObject(site), d)).To(Succeed())
	d.Status = appsv1.DeploymentStatus{Replicas: n, ReadyReplicas: n, AvailableReplicas: n, UpdatedReplicas: n, ObservedGeneration: d.Generation}
	Expect(c.Status().Update(ctx, d)).To(Succeed())
}

// warnings collects the warnings of answers.
type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }
