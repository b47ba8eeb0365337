// Command customkind serves two kinds of its own beside the kinds of kubecoord: one
// from a Go type and a descriptor, and one without a schema.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Barrier lets a number of parties wait for each other.
type Barrier struct {
	meta.TypeMeta   `json:",inline" description:"A barrier that several parties wait at."`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            BarrierSpec   `json:"spec" protobuf:"2"`
	Status          BarrierStatus `json:"status,omitzero" protobuf:"3"`
}

// BarrierSpec is the desired state.
type BarrierSpec struct {
	// Parties is how many must arrive, at least 1.
	Parties int32 `json:"parties" protobuf:"1" description:"How many must arrive, at least 1."`
	// Details is JSON of any form for the parties. As it has no protobuf number,
	// barriers are served in JSON and YAML alone.
	Details json.RawMessage `json:"details,omitempty"`
}

// BarrierStatus is the observed state.
type BarrierStatus struct {
	// Arrived lists the parties that have arrived, each once.
	Arrived []string `json:"arrived,omitempty" protobuf:"1" patchStrategy:"merge" listType:"set"`
}

func newKind() *store.Kind[Barrier] {
	return store.MustKind(store.Descriptor[Barrier]{
		Group: "sync.example.com", Name: "Barrier", ShortNames: []string{"bar"},
		Versions: []store.Version[Barrier]{{Name: "v1"}},
		Status:   true, // it can only be written at …/barriers/{name}/status
		Default: func(b *Barrier) {
			if b.Spec.Parties == 0 {
				b.Spec.Parties = 2
			}
		},
		Validate: func(b, old *Barrier) (errs field.Errors) {
			const parties = field.Path("spec.parties")
			if b.Spec.Parties < 1 {
				errs = append(errs, field.Invalid(parties, b.Spec.Parties, "must be greater than 0"))
			}
			if old != nil && old.Spec.Parties != b.Spec.Parties {
				errs = append(errs, field.Invalid(parties, b.Spec.Parties, "field is immutable"))
			}
			return errs
		},
		Columns: []store.Column[Barrier]{
			store.NameColumn[Barrier](),
			{Name: "Arrived", Type: "string", Description: "How many of the parties have arrived.", Cell: func(b *Barrier, _ time.Time) any {
				return fmt.Sprintf("%d/%d", len(b.Status.Arrived), b.Spec.Parties)
			}},
			store.AgeColumn[Barrier](),
		},
	})
}

// newOpenKind returns a kind without a Go type or a schema: the store keeps all fields
// that a client sends. Its objects have no namespace.
func newOpenKind() *store.Kind[store.Unstructured] {
	return store.MustKind(store.Descriptor[store.Unstructured]{
		Group: "sync.example.com", Name: "Hall", ClusterScoped: true,
		Versions: []store.Version[store.Unstructured]{{Name: "v1"}},
	})
}

func newAPI(st *store.Store) *httpapi.API {
	return httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{newKind(), newOpenKind()}})
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8001", "address to serve on")
	flag.Parse()
	fmt.Printf("serving on http://%s\ntry: curl http://%[1]s/apis/sync.example.com/v1/barriers\n", *listen)
	log.Fatal(http.ListenAndServe(*listen, newAPI(store.New(store.Options{}))))
}
