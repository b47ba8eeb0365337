package referee

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Pod is the stored form of an example.Pod of the suites: its bytes in the
// encoding of upstream's codec, and the fields that selectors read. The store
// sets its own uid and creationTimestamp, which a storage.Interface does not
// have, so they are never returned.
type Pod struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            PodSpec `json:"spec" protobuf:"2"`
}

// PodSpec holds the object of a suite.
type PodSpec struct {
	// NodeName is the node name of the object, for field selectors.
	NodeName string `json:"nodeName,omitempty" protobuf:"1"`
	// Data is the object without its resourceVersion, after the transformer.
	Data string `json:"data,omitempty" protobuf:"2"`
	// Rewrites counts the updates with equal data that a stale transformer asked
	// for. Without it the store would see no change.
	Rewrites int64 `json:"rewrites,omitempty" protobuf:"3"`
}

func podKind() *store.Kind[Pod] {
	return store.MustKind(kind.Descriptor[*Pod]{
		Resource: kind.Resource{Kind: "Pod", Plural: "pods"},
		Native:   &kind.Native[*Pod]{},
		Versions: []kind.Version[*Pod]{{Name: "v1"}},
		Strategy: kind.Strategy[*Pod]{Update: kind.UpdateStrategy[*Pod]{CreateMissing: true}},
		// GuaranteedUpdate with ignoreNotFound
		SelectableFields: []kind.SelectableField[*Pod]{
			{Path: "spec.nodeName", Value: func(p *Pod) string { return p.Spec.NodeName }},
		},
	})
}

// stored returns the stored form of an object for a key, and the bytes before
// the transformer.
func (s *Storage) stored(ctx context.Context, key string, at place, obj runtime.Object) (*Pod, []byte, error) {
	pod := obj.(*example.Pod).DeepCopy()
	version := pod.ResourceVersion
	if err := s.versioner.PrepareObjectForStorage(pod); err != nil {
		return nil, nil, err
	}
	plain, err := runtime.Encode(s.codec, pod)
	if err != nil {
		return nil, nil, err
	}
	data, err := s.Transformer.TransformToStorage(ctx, plain, value.DefaultContext(key))
	if err != nil {
		return nil, nil, storage.NewInternalError(err)
	}
	out := &Pod{Spec: PodSpec{NodeName: pod.Spec.NodeName, Data: string(data)}}
	out.Namespace, out.Name, out.Labels, out.ResourceVersion = at.namespace, at.name, pod.Labels, version
	return out, plain, nil
}

// load reads an item of a store. stale reports whether the transformer wants the
// data written again.
func (s *Storage) load(ctx context.Context, it *registry.Item) (pod *example.Pod, stale bool, err error) {
	kept := it.Wire().(*Pod)
	key := keyOf(place{kept.Namespace, kept.Name})
	data, stale, err := s.Transformer.TransformFromStorage(ctx, []byte(kept.Spec.Data), value.DefaultContext(key))
	if err != nil {
		return nil, false, storage.NewInternalError(err)
	}
	pod = &example.Pod{}
	return pod, stale, s.decode(data, it.ResourceVersion(), pod)
}

// decode fills out, which may be nil, with an object at a version.
func (s *Storage) decode(data []byte, resourceVersion string, out runtime.Object) error {
	if out == nil {
		return nil
	}
	if err := runtime.SetZeroValue(out); err != nil {
		return err
	}
	if _, _, err := s.codec.Decode(data, nil, out); err != nil {
		return storage.NewInternalError(err)
	}
	version, err := s.versioner.ParseResourceVersion(resourceVersion)
	if err != nil {
		return err
	}
	return s.versioner.UpdateObject(out, version)
}
