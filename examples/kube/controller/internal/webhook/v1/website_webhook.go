// Package v1 has the webhook of Websites.
package v1

import (
	"context"
	"fmt"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	webv1 "github.com/kubecoord/kubecoord/examples/kube/controller/api/v1"
)

// SetupWebsiteWebhookWithManager adds the webhook to the server of a manager.
func SetupWebsiteWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &webv1.Website{}).WithValidator(&WebsiteValidator{}).Complete()
}

//
// +kubebuilder:webhook:path=/validate-web-example-com-v1-website,mutating=false,failurePolicy=fail,sideEffects=None,groups=web.example.com,resources=websites,verbs=create;update,versions=v1,name=vwebsite-v1.example.com,admissionReviewVersions=v1

// WebsiteValidator refuses images without a fixed version, which a schema cannot say.
type WebsiteValidator struct{}

// ValidateCreate is called for a new Website.
func (v *WebsiteValidator) ValidateCreate(_ context.Context, site *webv1.Website) (admission.Warnings, error) {
	return check(site)
}

// ValidateUpdate is called for a changed one.
func (v *WebsiteValidator) ValidateUpdate(_ context.Context, _, site *webv1.Website) (admission.Warnings, error) {
	if !site.DeletionTimestamp.IsZero() {
		return nil, nil // a Website that is deleted must be able to go
	}
	return check(site)
}

// ValidateDelete is not called: the configuration does not name it.
func (v *WebsiteValidator) ValidateDelete(context.Context, *webv1.Website) (admission.Warnings, error) {
	return nil, nil
}

func check(site *webv1.Website) (admission.Warnings, error) {
	image := site.Spec.Image[strings.LastIndex(site.Spec.Image, "/")+1:]
	_, tag, tagged := strings.Cut(image, ":")
	if !tagged || tag == "latest" {
		return nil, fmt.Errorf("spec.image: got %q, want an image with a tag other than latest, or a digest", site.Spec.Image)
	}
	if site.Spec.Replicas != nil && *site.Spec.Replicas == 1 {
		return admission.Warnings{"spec.replicas: a Website with one replica is away while it is updated"}, nil
	}
	return nil, nil
}
