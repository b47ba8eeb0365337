package managedfields

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

// renewal returns a lease that one manager took over from another, and the same
// lease renewed by its holder.
func renewed(t testing.TB) (live, obj *lease) {
	w := world{t: t, kind: leases}
	w.update("creator", `{"metadata":{"name":"a","namespace":"ns","labels":{"app":"x"}},"spec":{"holderIdentity":"me",
		"leaseDurationSeconds":15,"leaseTransitions":1,"acquireTime":"2024-01-01T00:00:00.000000Z","renewTime":"2024-01-01T00:00:00.000000Z"}}`)
	w.update("you", `{"metadata":{"name":"a","namespace":"ns","labels":{"app":"x"}},"spec":{"holderIdentity":"you",
		"leaseDurationSeconds":15,"leaseTransitions":2,"acquireTime":"2024-01-01T00:00:01.000000Z","renewTime":"2024-01-01T00:00:01.000000Z"}}`)
	live = w.live.(*lease)
	obj = leases.Versions[0].Type.Copy(live).(*lease)
	obj.Spec.RenewTime = new(meta.NewMicroTime(at(10)))
	return live, obj
}

func TestRenewalIsCheap(t *testing.T) {
	live, obj := renewed(t)
	sent, now := obj.ManagedFields, at(10)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		obj.ManagedFields = sent
		leases.Update(0, live, obj, "you", now)
	}), 4.0)
	assert.Equal(t, 10, obj.ManagedFields[1].Time.Second())
}

func BenchmarkUpdate(b *testing.B) {
	live, obj := renewed(b)
	sent := obj.ManagedFields
	for _, row := range []struct {
		name    string
		live    Object
		manager string
	}{{"renewal", live, "you"}, {"takeover", live, "third"}, {"create", nil, "you"}} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if obj.ManagedFields = sent; row.live == nil {
					obj.ManagedFields = nil
				}
				leases.Update(0, row.live, obj, row.manager, at(10))
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	live, _ := renewed(b)
	for _, manager := range []string{"creator", "other"} {
		b.Run("manager="+manager, func(b *testing.B) {
			config := tree(b, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","labels":{"z":"1"}},"spec":{"strategy":"s"}}`)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := leases.Apply(0, live, config, ApplyOptions{Manager: manager, Now: time.Time{}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEndpoints(b *testing.B) {
	for _, n := range []int{10, 1000} {
		w := world{t: b, kind: endpointsKind}
		addresses := ""
		for i := range n {
			addresses += fmt.Sprintf(`,{"ip":"10.0.%d.%d"}`, i/256, i%256)
		}
		w.update("m", `{"metadata":{},"subsets":[{"addresses":[`+addresses[1:]+`]}]}`)
		obj := w.object(0, `{"metadata":{},"subsets":[{"addresses":[`+addresses[1:]+`,{"ip":"1"}]}]}`)
		for _, manager := range []string{"m", "n"} {
			b.Run(fmt.Sprintf("addresses=%d/manager=%s", n, manager), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					obj.GetObjectMeta().ManagedFields = nil
					endpointsKind.Update(0, w.live, obj, manager, at(5))
				}
			})
		}
	}
}
