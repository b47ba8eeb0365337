package yaml

import (
	"fmt"
	"strings"
	"testing"
)

const benchLease = `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: a
  namespace: default
  labels:
    app: x
  annotations:
    note: |
      hello
      world
spec:
  holderIdentity: alpha
  leaseDurationSeconds: 15
  renewTime: "2024-01-02T03:04:05.123456Z"
`

func BenchmarkToJSON(b *testing.B) {
	addresses := "apiVersion: v1\nkind: Endpoints\nsubsets:\n- addresses:\n" + strings.Repeat("  - ip: 10.0.0.1\n    hostname: \"h\"\n", 1000)
	for _, c := range []struct{ name, doc string }{
		{"lease", benchLease},
		{"addresses", addresses},
		{"flow", "[" + strings.Repeat(`{"ip": "10.0.0.1", "hostname": "h"}, `, 1000) + "]"},
		{"text", "a: |\n" + strings.Repeat("  lorem ipsum dolor sit amet\n", 1000)},
	} {
		b.Run(fmt.Sprintf("doc=%s", c.name), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.doc)))
			for b.Loop() {
				if _, _, err := ToJSON([]byte(c.doc)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFromJSON(b *testing.B) {
	lease, _, err := ToJSON([]byte(benchLease))
	if err != nil {
		b.Fatal(err)
	}
	for _, items := range []int{1, 100} {
		b.Run(fmt.Sprintf("leases=%d", items), func(b *testing.B) {
			list := []byte(`{"items":[` + strings.TrimSuffix(strings.Repeat(string(lease)+",", items), ",") + `]}`)
			b.ReportAllocs()
			b.SetBytes(int64(len(list)))
			for b.Loop() {
				if _, err := FromJSON(list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
