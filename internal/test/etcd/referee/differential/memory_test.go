package differential

import (
	"bytes"
	"context"
	"errors"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// memory is a storage.Interface over a map, like etcd's for one reader and writer. It keeps objects as bytes, as etcd does,
// because the tests also compare the effect of encoding and of no-op detection. It does not list or watch.
type memory struct {
	codec     runtime.Codec
	versioner storage.APIObjectVersioner
	revision  *uint64 // of the whole server
	objects   map[string]stored
}

type stored struct {
	data     []byte
	revision uint64
}

var errNotHere = errors.New("not part of the reference")

// decode decodes a stored object into out.
func (m *memory) decode(s stored, out runtime.Object) error {
	zero(out)
	if _, _, err := m.codec.Decode(s.data, nil, out); err != nil {
		return err
	}
	return m.versioner.UpdateObject(out, s.revision)
}

func zero(o runtime.Object) { reflect.ValueOf(o).Elem().SetZero() }

func (m *memory) put(key string, data []byte) stored {
	*m.revision++
	s := stored{data, *m.revision}
	m.objects[key] = s
	return s
}

func (m *memory) Versioner() storage.Versioner { return m.versioner }

func (m *memory) Create(_ context.Context, key string, obj, out runtime.Object, _ uint64) error {
	if version, err := m.versioner.ObjectResourceVersion(obj); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	if err := m.versioner.PrepareObjectForStorage(obj); err != nil {
		return err
	}
	data, err := runtime.Encode(m.codec, obj)
	if err != nil {
		return err
	}
	if _, ok := m.objects[key]; ok {
		return storage.NewKeyExistsError(key, 0)
	}
	s := m.put(key, data)
	if out == nil {
		return nil
	}
	return m.decode(s, out)
}

func (m *memory) Get(_ context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	s, ok := m.objects[key]
	switch {
	case ok:
		return m.decode(s, out)
	case opts.IgnoreNotFound:
		zero(out)
		return nil
	}
	return storage.NewKeyNotFoundError(key, 0)
}

func (m *memory) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool, pre *storage.Preconditions, try storage.UpdateFunc, _ runtime.Object) error {
	current := reflect.New(reflect.TypeOf(out).Elem()).Interface().(runtime.Object)
	if err := m.Get(ctx, key, storage.GetOptions{IgnoreNotFound: ignoreNotFound}, current); err != nil {
		return err
	}
	if err := pre.Check(key, current); err != nil {
		return err
	}
	s := m.objects[key]
	changed, _, err := try(current, storage.ResponseMeta{ResourceVersion: s.revision})
	if err != nil {
		return err
	}
	if err := m.versioner.PrepareObjectForStorage(changed); err != nil {
		return err
	}
	data, err := runtime.Encode(m.codec, changed)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, s.data) {
		s = m.put(key, data)
	}
	return m.decode(s, out)
}

func (m *memory) Delete(ctx context.Context, key string, out runtime.Object, pre *storage.Preconditions, validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions) error {
	if err := m.Get(ctx, key, storage.GetOptions{}, out); err != nil {
		return err
	}
	if err := pre.Check(key, out); err != nil {
		return err
	}
	if err := validate(ctx, out); err != nil {
		return err
	}
	delete(m.objects, key)
	*m.revision++
	return m.versioner.UpdateObject(out, *m.revision)
}

func (m *memory) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return nil, errNotHere
}
func (m *memory) GetList(context.Context, string, storage.ListOptions, runtime.Object) error {
	return errNotHere
}
func (m *memory) Stats(context.Context) (storage.Stats, error) { return storage.Stats{}, nil }
func (m *memory) ReadinessCheck() error                        { return nil }
func (m *memory) RequestWatchProgress(context.Context) error   { return nil }
func (m *memory) GetCurrentResourceVersion(context.Context) (uint64, error) {
	return *m.revision, nil
}
func (m *memory) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }
func (m *memory) CompactRevision() int64                              { return 0 }
