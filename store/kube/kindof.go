package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store/kind"
)

// KindOf returns the kind of a Go type among kinds, by the name that the scheme has for the type:
//
//	kind, err := kube.KindOf[corev1.ConfigMap](clientgoscheme.Scheme, kinds)
//
// The error is for a type that is not in the scheme, for a name that no kind has, and for a type of another version than the
// first version of the kind, in which objects are stored.
func KindOf[T any, P interface {
	*T
	runtime.Object
}](s *runtime.Scheme, kinds []kind.Kind) (kind.Kind, error) {
	names, _, err := s.ObjectKinds(P(new(T)))
	if err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	for _, k := range kinds {
		info := k.Info()
		for _, name := range names {
			if name.Group != info.Group || name.Kind != info.Kind {
				continue
			}
			if stored := info.Versions[k.OwnVersion()].Name; stored != name.Version {
				return nil, fmt.Errorf("kube: %T is of version %s, want a type of version %s, in which the objects are stored", *new(T), name.Version, stored)
			}
			return k, nil
		}
	}
	return nil, fmt.Errorf("kube: none of the %d kinds is %s", len(kinds), names[0].GroupKind())
}
