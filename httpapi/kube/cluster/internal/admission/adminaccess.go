package admission

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// adminLabel is the label of a namespace whose claims may ask for devices that are in use.
const adminLabel = resourcev1.DRAAdminNamespaceLabelKey

// checkAdminAccess refuses admin access to devices outside of the namespaces for it (upstream: registry/resource, AuthorizedForAdmin
// and AuthorizedForAdminStatus, which add their error to the errors of the validation; here it comes only if there are none).
func (c *Chain) checkAdminAccess(a *writes.Attributes) error {
	resource := a.Resource.Info()
	if resource.Group != resourcev1.GroupName || a.Operation == writes.Delete {
		return nil
	}
	// Requests cannot change, and once the results have it the allocation cannot.
	at := ""
	switch {
	case a.Operation == writes.Create && resource.Plural == "resourceclaims":
		at = asksForAdmin(a.Object, "exactly", "spec", "devices", "requests")
	case a.Operation == writes.Create && resource.Plural == "resourceclaimtemplates":
		at = strings.TrimPrefix(asksForAdmin(a.Object, "exactly", "spec", "spec", "devices", "requests"), "spec.")
	case a.Subresource == "status" && resource.Plural == "resourceclaims" && asksForAdmin(a.Old, "", "status", "allocation", "devices", "results") == "":
		at = asksForAdmin(a.Object, "", "status", "allocation", "devices", "results")
	}
	if at == "" {
		return nil
	}
	refusal := field.Forbidden(field.NewPath(at), fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", adminLabel))
	var ns meta.Object
	if in := c.namespaces.Objects(); in != nil {
		ns = in.Get("", a.Namespace)
	}
	switch {
	case ns == nil:
		err := apierrors.NewNotFound(namespaces.GroupResource(), a.Namespace)
		refusal = field.InternalError(field.NewPath(at), fmt.Errorf("could not retrieve namespace to verify admin access: %w", err))
	case ns.GetObjectMeta().Labels[adminLabel] == "true":
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: resource.Group, Kind: resource.Kind}, a.Object.GetObjectMeta().Name, field.ErrorList{refusal})
}

// asksForAdmin looks for adminAccess in the items of a list, and returns the path of the first one, or "". If within is not "", the
// member of that name in an item holds adminAccess.
func asksForAdmin(o meta.Object, within string, path ...string) string {
	items, _ := kind.Member(o, path...).([]any)
	for i, item := range items {
		item, _ := item.(map[string]any)
		if within != "" {
			item, _ = item[within].(map[string]any)
		}
		if item["adminAccess"] == true {
			return fmt.Sprintf("%s[%d].adminAccess", strings.Join(path, "."), i)
		}
	}
	return ""
}
