package controller_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BenchmarkStart starts and stops an API server with the definition and the webhook, and a manager.
func BenchmarkStart(b *testing.B) {
	RegisterTestingT(b)
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(time.Millisecond)
	for b.Loop() {
		setUp()
		tearDown()
	}
}

// BenchmarkReconcile creates a Website, and waits for its Deployment and its status.
func BenchmarkReconcile(b *testing.B) {
	RegisterTestingT(b)
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(time.Millisecond)
	setUp()
	defer tearDown()
	ns := namespace(b.Context())
	for n := 0; b.Loop(); n++ {
		site := website(ns, fmt.Sprint("site-", n))
		Expect(c.Create(b.Context(), site)).To(Succeed())
		Eventually(func() error {
			return c.Get(b.Context(), client.ObjectKeyFromObject(site), &appsv1.Deployment{})
		}).Should(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(c.Get(b.Context(), client.ObjectKeyFromObject(site), site)).To(Succeed())
			g.Expect(site.Status.Conditions).NotTo(BeEmpty())
		}).Should(Succeed())
	}
}
