package referee

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Pod is how an example.Pod of the suites is kept in a store: its bytes as
// upstream's codec writes them, and what selectors look at. The metadata that a
// store owns (uid, creationTimestamp) is its own; a storage.Interface knows
// nothing of it, so it never comes out.
type Pod struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            PodSpec `json:"spec" protobuf:"2"`
}

// PodSpec holds the object of a suite.
type PodSpec struct {
	// NodeName is that of the object, for field selectors.
	NodeName string `json:"nodeName,omitempty" protobuf:"1"`
	// Data is the object without its resourceVersion, after the transformer.
	Data string `json:"data,omitempty" protobuf:"2"`
	// Rewrites counts the updates that a stale transformer asked for though
	// the data is the same; to a store they would be no change.
	Rewrites int64 `json:"rewrites,omitempty" protobuf:"3"`
}

func podKind() *store.Kind[Pod] {
	return store.MustKind(store.Descriptor[Pod]{
		Name: "Pod", Plural: "pods", Native: true, Versions: []store.Version[Pod]{{Name: "v1"}},
		CreateOnUpdate: true, // GuaranteedUpdate with ignoreNotFound
		SelectableFields: []store.SelectableField[Pod]{
			{Path: "spec.nodeName", Value: func(p *Pod) string { return p.Spec.NodeName }},
		},
	})
}

// stored returns the form of an object that a store keeps under a key, and
// the bytes that were given to the transformer.
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

// load reads an item of a store. stale tells that the transformer wants the
// data written again.
func (s *Storage) load(ctx context.Context, it *registry.Item) (pod *example.Pod, stale bool, err error) {
	kept := it.Wire(0).(*Pod)
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
