package registry_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

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
		Resource: kind.Resource{Kind: "Thing", Native: true},
		Strategy: kind.Strategy[meta.Object]{SlowValidation: true},
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
			_, err := r.Create(ctx, o, registry.Request{Namespace: "ns"})
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
