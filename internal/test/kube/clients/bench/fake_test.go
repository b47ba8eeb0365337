package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// objects is the number of Leases in the stores and in the fake.
const objects = 1000

// door is one way to reach a Lease.
type door struct {
	update, get func()
}

// goDoor is the typed Go API.
func goDoor(b *testing.B, s shape) door {
	st, _ := newServer(b, objects, s)
	return leaseDoor(b, st)
}

func leaseDoor(b *testing.B, st *store.Store) door {
	leases := lease.In(st)
	name := leaseName(0)
	l, err := leases.Get(b.Context(), namespace, name)
	require.NoError(b, err)
	renewed, manager := midnight, l.ManagedFields[0].Manager
	return door{
		update: func() {
			renewed = renewed.Add(time.Second)
			l.Spec.RenewTime = new(meta.NewMicroTime(renewed))
			if l, err = leases.Update(b.Context(), l, store.UpdateOptions{FieldManager: manager}); err != nil {
				b.Fatal(err)
			}
		},
		get: func() {
			if _, err := leases.Get(b.Context(), namespace, name); err != nil {
				b.Fatal(err)
			}
		},
	}
}

// fakeDoor is client-go's older fake clientset. It does not track managed fields
// and is therefore faster than the newer one.
func fakeDoor(b *testing.B, s shape) door {
	var leases []runtime.Object
	for i := range objects {
		leases = append(leases, storedLease(i, s))
	}
	client := fake.NewSimpleClientset(leases...)
	// The fake records every call. This is its default.
	return clientDoor(b, client)
}

// transportDoor is a real clientset over the in-memory transport.
func transportDoor(b *testing.B, s shape) door {
	_, api := newServer(b, objects, s)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://coordination", Transport: api.Transport(), QPS: -1})
	require.NoError(b, err)
	return clientDoor(b, client)
}

func clientDoor(b *testing.B, client kubernetes.Interface) door {
	leases := client.CoordinationV1().Leases(namespace)
	ctx, name := b.Context(), leaseName(0)
	l, err := leases.Get(ctx, name, metav1.GetOptions{})
	require.NoError(b, err)
	renewed := midnight
	return door{
		update: func() {
			renewed = renewed.Add(time.Second)
			l.Spec.RenewTime = new(metav1.NewMicroTime(renewed))
			if l, err = leases.Update(ctx, l, metav1.UpdateOptions{}); err != nil {
				b.Fatal(err)
			}
		},
		get: func() {
			if _, err := leases.Get(ctx, name, metav1.GetOptions{}); err != nil {
				b.Fatal(err)
			}
		},
	}
}

var doors = []struct {
	name string
	open func(*testing.B, shape) door
}{{"go", goDoor}, {"client", transportDoor}}

// BenchmarkAgainstFake compares with the fake, for Leases as electors write
// them and for Leases with labels and annotations, which cost both sides the
// same to copy. The goal for the Go API is a ratio of 0.5 for update and of 0.33
// for get. The clientset has no goal.
func BenchmarkAgainstFake(b *testing.B) {
	const calls = 256
	for _, s := range []shape{elected, ownMaps} {
		for _, d := range doors {
			b.Run(s.String()+"/"+d.name+"/update", func(b *testing.B) {
				duel(b, calls, d.name, d.open(b, s).update, "fake", fakeDoor(b, s).update)
			})
			b.Run(s.String()+"/"+d.name+"/get", func(b *testing.B) {
				duel(b, calls, d.name, d.open(b, s).get, "fake", fakeDoor(b, s).get)
			})
		}
	}
}
