package comparison

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	runtimefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// forever is longer than any scenario waits in its bubble.
const forever = time.Hour

// lost is the error instead of a lost answer.
func lost() error { return apierrors.NewInternalError(context.DeadlineExceeded) }

// fakeClientset is the fakes of client-go's clients.
type fakeClientset struct {
	clientGoDoor
	nothing
	*fake.Clientset
}

func newClientset(t testing.TB) subject       { return newFakeClientset(fake.NewClientset()) }
func newSimpleClientset(t testing.TB) subject { return newFakeClientset(fake.NewSimpleClientset()) }

func newFakeClientset(cs *fake.Clientset) subject {
	return &fakeClientset{clientGoDoor{cs, fakeUntyped, fakePartial}, nothing{}, cs}
}

func fakeUntyped() (dynamic.Interface, error) {
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(scheme.Scheme, map[schema.GroupVersionResource]string{
		widgetResource: "WidgetList",
	}), nil
}

func fakePartial() (metadata.Interface, error) {
	s := metadatafake.NewTestScheme()
	return metadatafake.NewSimpleMetadataClient(s), metav1.AddMetaToScheme(s)
}

func (f *fakeClientset) requests() []string {
	var out []string
	for _, a := range f.Actions() {
		out = append(out, a.GetVerb()+" "+a.GetResource().Resource)
	}
	return out
}

func (f *fakeClientset) fail(verb string, status metav1.Status) string {
	f.PrependReactor(verb, "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, &apierrors.StatusError{ErrStatus: status}
	})
	return "reactors"
}

func (f *fakeClientset) loseAnswer(verb string) string {
	carryOut := clienttesting.ObjectReaction(f.Tracker())
	f.PrependReactor(verb, "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if _, _, err := carryOut(a); err != nil {
			return true, nil, err
		}
		return true, nil, lost()
	})
	return "reactors"
}

// A reactor does not get the context of the call: it can wait, but does not
// notice that its caller has given up.
func (f *fakeClientset) hang(verb string) string {
	f.PrependReactor(verb, "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		time.Sleep(forever)
		return true, nil, lost()
	})
	return "reactors"
}

func (f *fakeClientset) can(l *coordinationv1.Lease) string {
	f.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, l, nil })
	return "reactors"
}

func (f *fakeClientset) end() string {
	f.PrependWatchReactor("leases", func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := f.Tracker().Watch(a.GetResource(), a.GetNamespace())
		if err == nil {
			w.Stop()
		}
		return true, w, err
	})
	return "reactors"
}

// fakeClient is controller-runtime's fake, with all options that help it.
type fakeClient struct {
	runtimeDoor
	nothing
}

func newFakeClient(t testing.TB) subject {
	name := func(o client.Object) []string { return []string{o.GetName()} }
	return &fakeClient{runtimeDoor{runtimefake.NewClientBuilder().
		WithReturnManagedFields().
		WithStatusSubresource(newWidget("", "")).
		WithGlobalResourceVersionCounter().
		WithIndex(&coordinationv1.Lease{}, "metadata.name", name).
		Build()}, nothing{}}
}

// semantics declares WatchList unsupported, as client-go's fake does: a reflector
// would otherwise wait for ever for the bookmark that ends its first watch.
func (f *fakeClient) semantics() any { return noWatchList{} }

type noWatchList struct{}

// IsWatchListSemanticsUnSupported is called by reflectors.
func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

// intercept wraps each call of a verb in a function, which may return an error
// instead of calling next.
func (f *fakeClient) intercept(verb string, in func(ctx context.Context, next func() error) error) string {
	var funcs interceptor.Funcs
	switch verb {
	case "get":
		funcs.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return in(ctx, func() error { return c.Get(ctx, key, o, opts...) })
		}
	case "update":
		funcs.Update = func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return in(ctx, func() error { return c.Update(ctx, o, opts...) })
		}
	default:
		panic("no scenario has trouble with " + verb)
	}
	f.WithWatch = interceptor.NewClient(f.WithWatch, funcs)
	return "interceptors"
}

func (f *fakeClient) fail(verb string, status metav1.Status) string {
	return f.intercept(verb, func(context.Context, func() error) error { return &apierrors.StatusError{ErrStatus: status} })
}

func (f *fakeClient) loseAnswer(verb string) string {
	return f.intercept(verb, func(_ context.Context, next func() error) error {
		if err := next(); err != nil {
			return err
		}
		return lost()
	})
}

func (f *fakeClient) hang(verb string) string {
	return f.intercept(verb, func(ctx context.Context, _ func() error) error {
		<-ctx.Done()
		return ctx.Err()
	})
}

func (f *fakeClient) can(l *coordinationv1.Lease) string {
	f.WithWatch = interceptor.NewClient(f.WithWatch, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			l.DeepCopyInto(o.(*coordinationv1.Lease))
			return nil
		},
	})
	return "interceptors"
}

func (f *fakeClient) end() string {
	f.WithWatch = interceptor.NewClient(f.WithWatch, interceptor.Funcs{
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			w, err := c.Watch(ctx, list, opts...)
			if err == nil {
				w.Stop()
			}
			return w, err
		},
	})
	return "interceptors"
}
