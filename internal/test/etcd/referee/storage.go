// Package referee runs upstream's storage test suites on a store of kubecoord:
// the suites of k8s.io/apiserver/pkg/storage/testing, which etcd's store and the
// watch cache of a real API server must pass.
//
// Storage is a storage.Interface that keeps everything in a registry.Resource and
// only translates: keys, objects, options, errors. Versions, conflicts, no-ops,
// history, snapshots, pages, selections and watches are the store's. A TTL is
// ignored, and so are suggestions of the current state, as the interface
// allows.
package referee

import (
	"context"
	"errors"
	"sort"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Storage is a storage.Interface for example.Pods over a store.
type Storage struct {
	// Transformer transforms the bytes of objects on the way into the store and
	// back.
	Transformer value.Transformer
	// PageAnyVersion makes lists at version "0" keep their limit, as etcd's
	// store does. Without it they ignore it, as the watch cache and our store
	// do.
	PageAnyVersion bool

	st        *registry.Store
	pods      *registry.Resource
	first     uint64 // the store's version before all writes
	codec     runtime.Codec
	versioner storage.APIObjectVersioner
}

var _ storage.Interface = (*Storage)(nil)

// New returns a Storage over an empty store. pods is of podKind, and codec encodes example.Pods.
func New(st *registry.Store, pods *kinds.Kind, codec runtime.Codec, transformer value.Transformer) *Storage {
	return &Storage{
		Transformer: transformer, st: st, pods: st.Resource(pods),
		first: st.ResourceVersion(), codec: codec,
	}
}

// Versioner returns upstream's own: versions are decimal numbers here too.
func (s *Storage) Versioner() storage.Versioner { return s.versioner }

// Create stores a new object.
func (s *Storage) Create(ctx context.Context, key string, obj, out runtime.Object, _ uint64) error {
	at, err := placeOf(key, false)
	if err != nil {
		return err
	}
	pod, plain, err := s.stored(ctx, key, at, obj)
	if err != nil {
		return err
	}
	it, err := s.pods.Create(ctx, pod, new(at.request()))
	if err != nil {
		return translate(key, err)
	}
	return s.decode(plain, it.ResourceVersion(), out)
}

// Get reads one object.
func (s *Storage) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	at, err := placeOf(key, false)
	if err != nil {
		return err
	}
	it, err := s.pods.Get(ctx, at.namespace, at.name, opts.ResourceVersion)
	if opts.IgnoreNotFound && errors.Is(err, store.ErrNotFound) {
		return runtime.SetZeroValue(out)
	}
	if err != nil {
		return translate(key, err)
	}
	pod, _, err := s.load(ctx, it)
	if err == nil {
		*out.(*example.Pod) = *pod
	}
	return err
}

// GuaranteedUpdate replaces an object, and retries until no other writer has
// changed it. The store runs the loop.
func (s *Storage) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, _ runtime.Object,
) error {
	at, err := placeOf(key, false)
	if err != nil {
		return err
	}
	uid, rest, err := s.uidPrecondition(ctx, at, preconditions)
	if err != nil {
		return err
	}
	var plain []byte
	req := at.request()
	req.UID = uid
	it, _, err := s.pods.Update(ctx, &req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		if current == nil && !ignoreNotFound {
			return nil, storage.NewKeyNotFoundError(key, 0)
		}
		var pod *Pod
		pod, plain, err = s.successor(ctx, key, at, current, rest, tryUpdate)
		return pod, err
	}))
	if err != nil {
		return translate(key, err)
	}
	return s.decode(plain, it.ResourceVersion(), out)
}

// successor applies an update to the current state, which may be nil.
func (s *Storage) successor(ctx context.Context, key string, at place, current *registry.Item,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc,
) (*Pod, []byte, error) {
	old, stale, version, rewrites := &example.Pod{}, false, "", int64(0)
	if current != nil {
		var err error
		if old, stale, err = s.load(ctx, current); err != nil {
			return nil, nil, err
		}
		version, rewrites = current.ResourceVersion(), current.Wire().(*Pod).Spec.Rewrites
	}
	if err := preconditions.Check(key, old); err != nil {
		return nil, nil, err
	}
	number, err := s.versioner.ParseResourceVersion(version)
	if err != nil {
		return nil, nil, err
	}
	updated, _, err := tryUpdate(old, storage.ResponseMeta{ResourceVersion: number})
	if err != nil {
		return nil, nil, err
	}
	pod, plain, err := s.stored(ctx, key, at, updated)
	if err != nil {
		return nil, nil, err
	}
	pod.ResourceVersion, pod.Spec.Rewrites = version, rewrites
	if stale {
		pod.Spec.Rewrites++
	}
	return pod, plain, nil
}

// Delete deletes an object in the state that validateDeletion accepted.
func (s *Storage) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validateDeletion storage.ValidateObjectFunc, _ runtime.Object, opts storage.DeleteOptions,
) error {
	at, err := placeOf(key, false)
	if err != nil {
		return err
	}
	if opts.ExpectTransformOrDecodeError {
		_, err := s.pods.Delete(ctx, new(at.request()), &kinds.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)})
		return translate(key, err)
	}
	for {
		it, err := s.pods.Get(ctx, at.namespace, at.name, "")
		if err != nil {
			return translate(key, err)
		}
		pod, _, err := s.load(ctx, it)
		if err != nil {
			return err
		}
		if err := s.checkDelete(ctx, key, at, preconditions); err != nil {
			return err
		}
		if err := validateDeletion(ctx, pod); err != nil {
			return err
		}
		seen := it.ResourceVersion()
		deletion, err := s.pods.Delete(ctx, new(at.request()), &kinds.DeleteOptions{Preconditions: &kinds.Preconditions{ResourceVersion: &seen}})
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err != nil {
			return translate(key, err)
		}
		pod.ResourceVersion = strconv.FormatUint(deletion.Version, 10)
		*out.(*example.Pod) = *pod
		return nil
	}
}

// checkDelete checks the preconditions of a deletion with a dry run.
func (s *Storage) checkDelete(ctx context.Context, key string, at place, preconditions *storage.Preconditions) error {
	translated, err := s.preconditions(ctx, at, preconditions)
	if translated == nil || err != nil {
		return err
	}
	_, err = s.pods.Delete(ctx, new(at.request()), &kinds.DeleteOptions{Preconditions: translated, DryRun: []string{kinds.DryRunAll}})
	return translate(key, err)
}

// preconditions translates preconditions for the object at a place. The suites
// choose the uid of their objects, a store does not let them: the uid that the
// object shows to the suite becomes the one it has in the store, any other
// stays a stranger.
func (s *Storage) preconditions(ctx context.Context, at place, p *storage.Preconditions) (*kinds.Preconditions, error) {
	if p == nil {
		return nil, nil
	}
	out := &kinds.Preconditions{ResourceVersion: p.ResourceVersion}
	if p.UID == nil {
		return out, nil
	}
	out.UID = new(meta.UID(*p.UID))
	it, err := s.pods.Get(ctx, at.namespace, at.name, "")
	if errors.Is(err, store.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	pod, _, err := s.load(ctx, it)
	if err == nil && pod.UID == *p.UID {
		*out.UID = it.UID()
	}
	return out, err
}

// uidPrecondition splits preconditions of an update into the uid that the store
// must compare, and the rest. The suite's uid of the object stays in the rest
// too, because an update may change it without the store.
func (s *Storage) uidPrecondition(ctx context.Context, at place, p *storage.Preconditions) (meta.UID, *storage.Preconditions, error) {
	translated, err := s.preconditions(ctx, at, p)
	if err != nil || translated == nil || translated.UID == nil {
		return "", p, err
	}
	if *translated.UID == meta.UID(*p.UID) {
		p = &storage.Preconditions{ResourceVersion: p.ResourceVersion}
	}
	return *translated.UID, p, nil
}

func (at place) request() registry.Request {
	return registry.Request{Namespace: at.namespace, Name: at.name}
}

// Stats counts the objects.
func (s *Storage) Stats(ctx context.Context) (storage.Stats, error) {
	l, err := s.pods.List(ctx, registry.ListOptions{})
	if err != nil {
		return storage.Stats{}, err
	}
	return storage.Stats{ObjectCount: int64(len(l.Items))}, nil
}

// ReadinessCheck returns nil: the store is always ready.
func (s *Storage) ReadinessCheck() error { return nil }

// RequestWatchProgress does nothing: only etcd needs it.
func (s *Storage) RequestWatchProgress(context.Context) error { return errors.ErrUnsupported }

// EnableResourceSizeEstimation does nothing: only etcd needs it.
func (s *Storage) EnableResourceSizeEstimation(storage.KeysFunc) error { return errors.ErrUnsupported }

// GetCurrentResourceVersion returns the version of the last change of any kind.
func (s *Storage) GetCurrentResourceVersion(context.Context) (uint64, error) {
	return s.st.ResourceVersion(), nil
}

// CompactRevision returns the oldest version that the store can still list at,
// or 0 while that is the one it started at.
func (s *Storage) CompactRevision() int64 {
	span := int(s.st.ResourceVersion() - s.first)
	gone := sort.Search(span, func(i int) bool {
		_, err := s.pods.List(context.Background(), registry.ListOptions{
			ResourceVersion: strconv.FormatUint(s.first+uint64(i), 10), ResourceVersionMatch: registry.MatchExact,
		})
		return !errors.Is(err, store.ErrExpired)
	})
	if gone == 0 {
		return 0
	}
	return int64(s.first) + int64(gone)
}
