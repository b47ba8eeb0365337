package etcd

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/etcd/member"
	"github.com/kubecoord/kubecoord/store/meta"
)

// cpu returns the time that this process has used.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkStore measures single requests of the Go API, one after the other, in a store of 100 Leases. The CPU time includes etcd,
// which runs in the same process; behind a socket it includes both ends.
func BenchmarkStore(b *testing.B) {
	clients := map[string]func(b *testing.B) *clientv3.Client{
		"in process": func(b *testing.B) *clientv3.Client {
			m, err := member.Start(b.Context(), b.TempDir(), member.Options{})
			require.NoError(b, err)
			b.Cleanup(func() { m.Close() })
			return m.Client()
		},
		"socket": func(b *testing.B) *clientv3.Client { return dial(b, sharedURL) },
		"memory": nil,
	}
	for name, client := range clients {
		b.Run(name, func(b *testing.B) {
			st, ctx := store.New(store.Options{}), b.Context()
			if client != nil {
				var err error
				st, err = OpenClient(ctx, client(b), prefixOf(b), Options{})
				require.NoError(b, err)
			}
			defer st.Close()
			leases := lease.In(st)
			var last *lease.Lease
			for i := range 100 {
				holder := "a"
				created, err := leases.Create(ctx, &lease.Lease{
					ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a" + strconv.Itoa(i)}, Spec: lease.LeaseSpec{HolderIdentity: &holder},
				}, store.CreateOptions{})
				require.NoError(b, err)
				last = created
			}
			measure := func(verb string, do func(i int) error) {
				b.Run(verb, func(b *testing.B) {
					start := cpu(b)
					for i := 0; b.Loop(); i++ {
						if err := do(i); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64((cpu(b)-start).Microseconds())/float64(b.N), "cpu-µs/op")
				})
			}
			measure("update", func(i int) (err error) {
				holder := strconv.Itoa(i)
				last.Spec.HolderIdentity = &holder
				last, err = leases.Update(ctx, last, store.UpdateOptions{})
				return err
			})
			measure("get", func(int) error {
				_, err := leases.Get(ctx, "default", "a1")
				return err
			})
			measure("list", func(int) error {
				_, err := leases.List(ctx, store.ListOptions{Namespace: "default"})
				return err
			})
		})
	}
}
