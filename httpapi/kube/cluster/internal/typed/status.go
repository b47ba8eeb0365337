package typed

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Status returns an error of the library as one that the API answers with its Status (upstream: responsewriters,
// ErrorToAPIStatus). Other errors stay.
func Status(err error) error {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return err
	}
	s := status.Status()
	out := meta.Status{
		TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"},
		ListMeta: meta.ListMeta{ResourceVersion: s.ResourceVersion, Continue: s.Continue, RemainingItemCount: s.RemainingItemCount},
		Status:   s.Status, Message: s.Message, Reason: meta.Reason(s.Reason), Code: s.Code,
	}
	if d := s.Details; d != nil {
		out.Details = &meta.StatusDetails{Name: d.Name, Group: d.Group, Kind: d.Kind, UID: meta.UID(d.UID), RetryAfterSeconds: d.RetryAfterSeconds}
		for _, c := range d.Causes {
			out.Details.Causes = append(out.Details.Causes, meta.StatusCause{Type: string(c.Type), Message: c.Message, Field: c.Field})
		}
	}
	return &meta.StatusError{Status: out}
}
