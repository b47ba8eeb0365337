package plugins

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

// may reports whether the user of a write has a right over a signer, or over all signers of its domain (upstream:
// pkg/certauthorization).
func (r *reader) may(ctx context.Context, verb, signer string) bool {
	if r.authorize == nil {
		return true
	}
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		allowed, _ := r.authorize(httpapi.Attributes{
			User: store.UserOf(ctx), Verb: verb, IsResource: true, Group: certificatesv1.GroupName, Version: "*", Resource: "signers", Name: name,
		})
		if allowed {
			return true
		}
	}
	return false
}

// mayApprove is the plugin CertificateApproval. What counts is the signer before the write.
func (r *reader) mayApprove(ctx context.Context, a *writes.Attributes) error {
	old := kind.ValueOf[certificatesv1.CertificateSigningRequest](a.Old)
	if a.Subresource != "approval" || old == nil || r.may(ctx, "approve", old.Spec.SignerName) {
		return nil
	}
	return refuse(a, fmt.Errorf("user not permitted to approve requests with signerName %q", old.Spec.SignerName))
}

// maySign is the plugin CertificateSigning.
func (r *reader) maySign(ctx context.Context, a *writes.Attributes) error {
	request, old := kind.ValueOf[certificatesv1.CertificateSigningRequest](a.Object), kind.ValueOf[certificatesv1.CertificateSigningRequest](a.Old)
	if a.Subresource != "status" || request == nil || old == nil {
		return nil
	}
	same := reflect.DeepEqual(old.Status.Certificate, request.Status.Certificate) &&
		apiequality.Semantic.DeepEqual(old.Status.Conditions, request.Status.Conditions)
	if same || r.may(ctx, "sign", old.Spec.SignerName) {
		return nil
	}
	return refuse(a, fmt.Errorf("user not permitted to sign requests with signerName %q", old.Spec.SignerName))
}

// maySignPod is the rule of the status of PodCertificateRequests (upstream: registry/certificates/podcertificaterequest).
func (r *reader) maySignPod(ctx context.Context, a *writes.Attributes) error {
	request, old := kind.ValueOf[certificatesv1.PodCertificateRequest](a.Object), kind.ValueOf[certificatesv1.PodCertificateRequest](a.Old)
	if a.Subresource != "status" || request == nil || old == nil || apiequality.Semantic.DeepEqual(old.Status, request.Status) || r.may(ctx, "sign", old.Spec.SignerName) {
		return nil
	}
	detail := fmt.Sprintf("User %q is not permitted to \"sign\" for signer %q", store.UserOf(ctx).Name, old.Spec.SignerName)
	return apierrors.NewInvalid(schema.GroupKind{Group: certificatesv1.GroupName, Kind: "PodCertificateRequest"}, old.Name,
		field.ErrorList{field.Forbidden(field.NewPath("spec", "signerName"), detail)})
}

// parseRequest returns what the signer is asked to sign (upstream: pkg/apis/certificates, ParseCSR).
func parseRequest(request *certificatesv1.CertificateSigningRequest) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(request.Spec.Request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// restrictSubject is the plugin CertificateSubjectRestriction: nobody becomes an administrator by a certificate.
func restrictSubject(a *writes.Attributes, request *certificatesv1.CertificateSigningRequest) error {
	if request.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	parsed, err := parseRequest(request)
	if err != nil {
		return refuse(a, fmt.Errorf("failed to parse CSR: %w", err))
	}
	if slices.Contains(parsed.Subject.Organization, "system:masters") {
		return refuse(a, fmt.Errorf("use of %s signer with system:masters group is not allowed", certificatesv1.KubeAPIServerClientSignerName))
	}
	return nil
}

// mayAttest is the plugin ClusterTrustBundleAttest. Bundles are in versions that a server serves only if asked, and so any Go type.
func (r *reader) mayAttest(ctx context.Context, a *writes.Attributes) error {
	signer, _ := kind.Member(a.Object, "spec", "signerName").(string)
	if a.Subresource != "" || signer == "" || onlyOwners(a) || r.may(ctx, "attest", signer) {
		return nil
	}
	return refuse(a, fmt.Errorf("user not permitted to attest for signerName %q", signer))
}

// onlyOwners reports whether an update changes only what the garbage collector changes (upstream: registry/rbac,
// IsOnlyMutatingGCFields).
func onlyOwners(a *writes.Attributes) bool {
	if a.Operation != writes.Update {
		return false
	}
	object, is := kind.Value(a.Object).(runtime.Object)
	old, was := kind.Value(a.Old).(metav1.Object)
	if !is || !was {
		return false
	}
	next := object.DeepCopyObject().(metav1.Object)
	next.SetOwnerReferences(old.GetOwnerReferences())
	next.SetFinalizers(old.GetFinalizers())
	next.SetManagedFields(old.GetManagedFields())
	return apiequality.Semantic.DeepEqual(next, old)
}
