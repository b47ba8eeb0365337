package codec

import (
	"fmt"
	"testing"

	"github.com/kubecoord/kubecoord/store/meta"
)

func BenchmarkCopy(b *testing.B) {
	t, lease := compileFor[Lease]("v1"), aLease()
	b.ReportAllocs()
	for b.Loop() {
		t.Copy(lease)
	}
}

func BenchmarkEqual(b *testing.B) {
	t, lease := compileFor[Lease]("v1"), aLease()
	other := t.Copy(lease)
	b.ReportAllocs()
	for b.Loop() {
		if !t.Equal(lease, other) {
			b.Fatal("a copy is not equal")
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	t, lease := compileFor[Lease]("v1"), aLease()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.AppendJSON(nil, lease); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	t := compileFor[Lease]("v1")
	data, err := t.AppendJSON(nil, aLease())
	if err != nil {
		b.Fatal(err)
	}
	for name, strict := range map[string]bool{"strict": true, "lenient": false} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.DecodeJSON(data, new(Lease), strict); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// someEndpoints has n addresses, as a service has them: 170 bytes of JSON each.
func someEndpoints(n int) *Endpoints {
	e := &Endpoints{ObjectMeta: meta.ObjectMeta{Name: "web", Namespace: "default"}, Subsets: []EndpointSubset{{
		Ports: []EndpointPort{{Name: "http", Port: 8080, Protocol: "TCP"}, {Name: "metrics", Port: 9090, Protocol: "TCP"}},
	}}}
	for i := range n {
		e.Subsets[0].Addresses = append(e.Subsets[0].Addresses, EndpointAddress{
			IP: fmt.Sprintf("10.1.1.%d", i), NodeName: ptr(fmt.Sprintf("node-%03d", i)),
			TargetRef: &ObjectReference{Kind: "Pod", Namespace: "default", Name: fmt.Sprintf("web-5d9c7b6f4-%05d", i), UID: meta.UID(fmt.Sprintf("11111111-2222-3333-4444-%012d", i))},
		})
	}
	return e
}

func BenchmarkDecodeEndpoints(b *testing.B) {
	t := compileFor[Endpoints]("v1")
	data, err := t.AppendJSON(nil, someEndpoints(50))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.DecodeJSON(data, new(Endpoints), true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendProto(b *testing.B) {
	t, lease := compileFor[Lease]("v1"), aLease()
	b.ReportAllocs()
	for b.Loop() {
		t.AppendProto(nil, lease)
	}
}

func BenchmarkDecodeProto(b *testing.B) {
	t := compileFor[Lease]("v1")
	data := t.AppendProto(nil, aLease())
	b.ReportAllocs()
	for b.Loop() {
		if err := t.DecodeProto(data, new(Lease)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToUnstructured(b *testing.B) {
	t, lease := compileFor[Lease]("v1"), aLease()
	b.ReportAllocs()
	for b.Loop() {
		t.ToUnstructured(lease)
	}
}

func BenchmarkFromUnstructured(b *testing.B) {
	t := compileFor[Lease]("v1")
	doc := t.ToUnstructured(aLease())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.FromUnstructured(doc, new(Lease), true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecognizeJSON(b *testing.B) {
	lease := aLease()
	lease.Kind, lease.APIVersion = "Lease", "coordination.k8s.io/v1"
	data, err := compileFor[Lease]("v1").AppendJSON(nil, lease)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := RecognizeJSON(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compileFor[Lease]("v1")
	}
}
