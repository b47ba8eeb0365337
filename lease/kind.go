package lease

import (
	"time"

	"github.com/kubecoord/kubecoord/store"
)

// kind must not change: every store that holds leases shares it.
var kind = store.Kind[Lease]{
	Group:          "coordination.k8s.io",
	Name:           "Lease",
	Native:         true,
	Plural:         "leases",
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
}

// Kind returns the description of leases that stores and the HTTP API work by.
// It is the same one at every call and must not be changed.
func Kind() *store.Kind[Lease] { return &kind }

// In returns the leases of a store.
func In(st *store.Store) *store.Collection[Lease] { return store.In(st, Kind()) }

func holderCell(l *Lease, _ time.Time) any {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}
