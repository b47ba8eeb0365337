package registry_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// slowThings is a kind whose validation begins with a value of began, and ends with one of end.
func slowThings(t testing.TB, began, end chan string) *kinds.Kind {
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Kind: "Thing"},
		Native:   &kind.Native[meta.Object]{SlowValidation: true},
		New:      func() kinds.Object { return new(store.Unstructured) },
		Versions: []kind.Version[meta.Object]{{Name: "v1", Validate: func(o, _ kinds.Object) field.Errors {
			began <- o.GetObjectMeta().Name
			if text := <-end; text == "panic" {
				panic(text)
			} else if text != "" {
				return field.Errors{field.Invalid("spec", "", text)}
			}
			return nil
		}}},
	})
	require.NoError(t, err)
	return k
}

func TestRequestsDoNotWaitForASlowValidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, end := make(chan string, 100), make(chan string)
		st := newStore(t)
		r := st.Resource(slowThings(t, began, end))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 100)
		create := func(ctx context.Context, name string) {
			o := &store.Unstructured{}
			o.Name = name
			_, err := r.Create(ctx, o, &registry.Request{Namespace: "ns"})
			result <- err
		}
		go create(ctx, "good")
		end <- ""
		require.NoError(t, <-result)
		go create(ctx, "bad")
		end <- "it is bad"
		require.ErrorIs(t, <-result, store.ErrInvalid)
		go func() {
			defer func() { result <- fmt.Errorf("%v", recover()) }()
			create(ctx, "worse")
		}()
		end <- "panic"
		require.EqualError(t, <-result, "panic")
		for range 3 {
			<-began
		}

		for i := range 6 {
			go create(ctx, fmt.Sprint("slow-", i))
		}
		synctest.Wait()
		assert.Len(t, began, 4, "others wait")
		assert.Empty(t, result)
		cancel()
		for range 6 {
			require.ErrorIs(t, <-result, context.Canceled)
		}
		go create(t.Context(), "later")
		synctest.Wait()
		assert.Len(t, began, 4, "validations that were left still run")
		_, err := r.Get(t.Context(), "ns", "slow-0", "")
		require.ErrorIs(t, err, store.ErrNotFound)

		for range 4 {
			end <- ""
		}
		synctest.Wait()
		assert.Len(t, began, 5)
		closed := make(chan struct{})
		go func() {
			st.Close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed before the validation has ended")
		default:
		}
		end <- ""
		<-closed
		require.NoError(t, <-result)
	})
}

// A client's large objects must not delay the small ones of another client, nor the writes of a status.
func TestASmallObjectDoesNotWaitForLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, end := make(chan string, 100), make(chan string)
		st := newStore(t)
		r := st.Resource(slowThings(t, began, end))
		result := make(chan error, 100)
		create := func(name string, size int) {
			o := &store.Unstructured{Content: map[string]any{"spec": strings.Repeat("x", size)}}
			o.Name = name
			_, err := r.Create(t.Context(), o, &registry.Request{Namespace: "ns"})
			result <- err
		}
		for _, size := range []int{0, 20 << 10, 70 << 10, 300 << 10, 1100 << 10} {
			for i := range 6 {
				go create(fmt.Sprint(size, "-", i), size)
			}
			synctest.Wait()
			assert.Len(t, began, 4, "%d bytes: four at once", size)
			for range 4 {
				<-began
			}
		}
		for range 30 {
			end <- ""
			require.NoError(t, <-result)
		}
	})
}

// Close of a store does not wait for ever.
func TestCloseLeavesAValidationThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, end := make(chan string, 1), make(chan string)
		st := newStore(t)
		r := st.Resource(slowThings(t, began, end))
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := make(chan error, 1)
		go func() {
			_, err := r.Create(ctx, &store.Unstructured{ObjectMeta: objectMeta("ns/a")}, &registry.Request{Namespace: "ns"})
			cancelled <- err
		}()
		<-began
		cancel()
		require.ErrorIs(t, <-cancelled, context.Canceled)
		start := time.Now()
		st.Close()
		assert.Equal(t, time.Minute, time.Since(start))
		end <- ""
	})
}

// A controller writes the status of all objects. It must not wait for the validation of one.
func TestAWriteOfTheStatusDoesNotWaitForSlowValidations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
			Resource: kind.Resource{Kind: "Thing", Status: true},
			Native:   &kind.Native[meta.Object]{SlowValidation: true},
			Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{Unconditional: true}},
			New:      func() kinds.Object { return new(store.Unstructured) },
			Versions: []kind.Version[meta.Object]{{
				Name: "v1", Validate: func(o, _ kinds.Object) field.Errors { time.Sleep(time.Second); return nil },
				ValidateStatus: func(_, _ kinds.Object) field.Errors { return nil },
			}},
		})
		require.NoError(t, err)
		r := newStore(t).Resource(k)
		at := registry.Request{Namespace: "ns", Name: "a"}
		_, err = r.Create(t.Context(), &store.Unstructured{ObjectMeta: objectMeta("ns/a")}, &at)
		require.NoError(t, err)
		for i := range 4 {
			go r.Create(t.Context(), &store.Unstructured{ObjectMeta: objectMeta(fmt.Sprint("ns/b", i))}, &registry.Request{Namespace: "ns"})
		}
		synctest.Wait()
		start := time.Now()
		at.Sub = k.Subresource("status")
		_, _, err = r.Update(t.Context(), &at, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
			o := current.Copy().(*store.Unstructured)
			o.Content = map[string]any{"status": "good"}
			return o, nil
		}))
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
		time.Sleep(time.Minute)
	})
}
