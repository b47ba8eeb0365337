package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store/kind"
)

// KindOf returns the kind in kinds that has the group and kind under which the scheme has registered the Go type T:
//
//	kind, err := kube.KindOf[corev1.ConfigMap](clientgoscheme.Scheme, kinds)
//
// It fails if T is not in the scheme, if kinds has no such kind, or if T is not of the version in which the objects of the kind are
// stored.
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
