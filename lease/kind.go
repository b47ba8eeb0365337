package lease

import (
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store"
)

// All stores of a process share the kind.
var kind = sync.OnceValue(func() *store.Kind[Lease] {
	return store.MustKind(store.Descriptor[Lease]{
		Group:          "coordination.k8s.io",
		Name:           "Lease",
		Native:         true,
		StoragePrefix:  "leases",
		Versions:       []store.Version[Lease]{{Name: "v1"}},
		CreateOnUpdate: true,
		Validate:       validate,
		Columns: []store.Column[Lease]{
			store.NameColumn[Lease](),
			{
				Name: "Holder", Type: "string",
				Description: "Identity of the holder, empty where there is none.",
				Cell:        holderCell,
			},
			store.AgeColumn[Lease](),
		},
	})
})

// Kind returns the kind Lease.
func Kind() *store.Kind[Lease] { return kind() }

// In returns the Leases of a store.
func In(st *store.Store) *store.Collection[Lease] { return kind().In(st) }

func holderCell(l *Lease, _ time.Time) any {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}
