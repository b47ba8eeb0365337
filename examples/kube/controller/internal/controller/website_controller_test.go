package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webv1 "github.com/kubecoord/kubecoord/examples/kube/controller/api/v1"
	"github.com/kubecoord/kubecoord/examples/kube/controller/internal/controller"
)

var _ = Describe("The controller of Websites", func() {
	It("makes a Deployment that the Website owns, and an event", func(ctx SpecContext) {
		site := website(namespace(ctx), "shop")
		Expect(c.Create(ctx, site)).To(Succeed())
		d := &appsv1.Deployment{}
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(site), d) }).Should(Succeed())
		Expect(metav1.IsControlledBy(d, site)).To(BeTrue())
		Expect(d.Spec.Template.Spec.Containers[0].Image).To(Equal("nginx:1.29"))
		Expect(*d.Spec.RevisionHistoryLimit).To(Equal(int32(10)), "a default of the server")

		reasons := func(g Gomega) (out []string) {
			l := &eventsv1.EventList{}
			g.Expect(c.List(ctx, l, client.InNamespace(site.Namespace))).To(Succeed())
			for _, e := range l.Items {
				out = append(out, e.Reason)
			}
			return out
		}
		Eventually(reasons).Should(ContainElement("Created"))
	})

	It("follows the Deployment in a condition, and changes of the spec in the Deployment", func(ctx SpecContext) {
		site := website(namespace(ctx), "blog")
		Expect(c.Create(ctx, site)).To(Succeed())
		Eventually(available(ctx, site)).Should(Equal(metav1.ConditionFalse))
		setReady(ctx, site, 2)
		Eventually(available(ctx, site)).Should(Equal(metav1.ConditionTrue))

		site.Spec.Image, site.Spec.Replicas = "nginx:1.30", new(int32(3))
		Expect(c.Update(ctx, site)).To(Succeed())
		Expect(site.Generation).To(Equal(int64(2)))
		Eventually(available(ctx, site)).Should(Equal(metav1.ConditionFalse))
		Eventually(func(g Gomega) string {
			d := &appsv1.Deployment{}
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(site), d)).To(Succeed())
			return d.Spec.Template.Spec.Containers[0].Image
		}).Should(Equal("nginx:1.30"))
	})

	It("frees the host of a Website that is deleted", func(ctx SpecContext) {
		site := website(namespace(ctx), "gone")
		Expect(c.Create(ctx, site)).To(Succeed())
		hosts := func(g Gomega) map[string]string {
			m := &corev1.ConfigMap{}
			g.Expect(c.Get(ctx, client.ObjectKey{Namespace: site.Namespace, Name: controller.HostsName}, m)).To(Succeed())
			return m.Data
		}
		Eventually(hosts).Should(HaveKeyWithValue("gone.example.com", "gone"))
		Eventually(available(ctx, site)).Should(Equal(metav1.ConditionFalse))
		Expect(c.Delete(ctx, site)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(site), &webv1.Website{}))
		}).Should(BeTrue())
		Eventually(hosts).ShouldNot(HaveKey("gone.example.com"))
	})

	It("keeps the defaults and the rules of the definition", func(ctx SpecContext) {
		site := website(namespace(ctx), "rules")
		site.Spec.Replicas = nil
		Expect(c.Create(ctx, site)).To(Succeed())
		Expect(site.Spec.Replicas).To(HaveValue(Equal(int32(1))))

		many := website(site.Namespace, "many")
		many.Spec.Replicas = new(int32(11))
		Expect(c.Create(ctx, many)).To(MatchError(ContainSubstring("spec.replicas in body should be less than or equal to 10")))
		Eventually(func(g Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(site), site)).To(Succeed())
			site.Spec.Host = "other.example.com"
			g.Expect(c.Update(ctx, site)).To(MatchError(ContainSubstring("host is immutable")))
		}).Should(Succeed())
	})

	It("refuses images without a version by its webhook, and warns", func(ctx SpecContext) {
		site := website(namespace(ctx), "latest")
		site.Spec.Image = "nginx"
		err := c.Create(ctx, site)
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(`admission webhook "vwebsite-v1.example.com" denied the request: ` +
			`spec.image: got "nginx", want an image with a tag other than latest, or a digest`))

		var heard warnings
		loud := rest.CopyConfig(config)
		loud.WarningHandler = &heard
		warned, err := client.New(loud, client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		site.Spec.Image, site.Spec.Replicas = "nginx@sha256:0123", new(int32(1))
		Expect(warned.Create(ctx, site)).To(Succeed())
		Expect(heard).To(ConsistOf(ContainSubstring("is away while it is updated")))
	})

	It("has one leader, and another one after it", func(ctx SpecContext) {
		stop()
		Eventually(stopped).Should(Receive(BeNil()))
		site := website(namespace(ctx), "waiting")
		mgr := newManager()
		var running context.Context
		running, stop = context.WithCancel(context.Background()) // ends with the suite, not with the spec
		go func() { stopped <- mgr.Start(running) }()
		Eventually(mgr.Elected()).Should(BeClosed())
		Eventually(func() error { return c.Create(ctx, site) }).Should(Succeed(), "the webhook is back")
		Eventually(available(ctx, site)).Should(Equal(metav1.ConditionFalse))
	})
})
