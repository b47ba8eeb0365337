package patch

import (
	"fmt"
	"testing"
)

const benchLive = `{"metadata":{"name":"node-1","namespace":"kube-node-lease","uid":"6a4f3c1e-0001","resourceVersion":"123456",` +
	`"creationTimestamp":"2024-01-02T03:04:05Z","labels":{"a":"1"},"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"node-1","uid":"u1"}],` +
	`"managedFields":[{"manager":"kubelet","operation":"Update","apiVersion":"coordination.k8s.io/v1","time":"2024-01-02T03:04:05Z",` +
	`"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"u1\"}":{}}},"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}}]},` +
	`"spec":{"holderIdentity":"node-1","renewTime":"2024-01-02T03:04:05.123456Z"}}`

// BenchmarkRenew is the patch of a client that renews a Lease.
func BenchmarkRenew(b *testing.B) {
	const body = `{"spec":{"renewTime":"2024-01-02T03:04:15.123456Z"}}`
	for _, c := range []struct {
		name  string
		apply patchFunc
		body  string
	}{
		{"json", JSON, `[{"op":"replace","path":"/spec/renewTime","value":"2024-01-02T03:04:15.123456Z"}]`},
		{"merge", Merge, body},
		{"strategic", Strategic, body},
	} {
		for _, v := range []Validation{Ignore, Warn} {
			b.Run(fmt.Sprintf("patch=%s/validation=%d", c.name, v), func(b *testing.B) {
				target := newFixture(b, benchLive).object()
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := c.apply(target, []byte(c.body), v); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
