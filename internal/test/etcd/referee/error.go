package referee

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// translate turns an error of a store into the error that upstream's storage
// would return. Other errors, such as errors of the suites' functions, are
// returned unchanged.
func translate(key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return storage.NewKeyNotFoundError(key, 0)
	case errors.Is(err, store.ErrAlreadyExists):
		return storage.NewKeyExistsError(key, 0)
	case errors.Is(err, store.ErrConflict):
		return storage.NewInvalidObjError(key, err.Error())
	case err.Error() == storage.ErrResourceVersionSetOnCreate.Error():
		return storage.ErrResourceVersionSetOnCreate
	}
	if e, ok := errors.AsType[*meta.StatusError](err); ok {
		return &apierrors.StatusError{ErrStatus: *status(&e.Status)}
	}
	return err
}

// status returns the Status in upstream's type.
func status(s *meta.Status) *metav1.Status {
	out := &metav1.Status{
		ListMeta: metav1.ListMeta{ResourceVersion: s.ResourceVersion, Continue: s.Continue},
		Status:   s.Status, Message: s.Message, Reason: metav1.StatusReason(s.Reason), Code: s.Code,
	}
	if d := s.Details; d != nil {
		out.Details = &metav1.StatusDetails{
			Name: d.Name, Group: d.Group, Kind: d.Kind, UID: types.UID(d.UID), RetryAfterSeconds: d.RetryAfterSeconds,
		}
		for _, c := range d.Causes {
			out.Details.Causes = append(out.Details.Causes, metav1.StatusCause{
				Type: metav1.CauseType(c.Type), Message: c.Message, Field: c.Field,
			})
		}
	}
	return out
}
