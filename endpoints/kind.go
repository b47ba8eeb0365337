package endpoints

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store"
)

// All stores of a process share the kind.
var kind = sync.OnceValue(func() *store.Kind[Endpoints] {
	return store.MustKind(store.Descriptor[Endpoints]{
		Name:          "Endpoints",
		Native:        true,
		Plural:        "endpoints",
		StoragePrefix: "services/endpoints",
		ShortNames:    []string{"ep"},
		Versions: []store.Version[Endpoints]{{
			Name:       "v1",
			Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		}},
		CreateOnUpdate:           true,
		UnconditionalUpdate:      true,
		ValidateFinalizer:        validateFinalizer,
		ValidateMetadataOnUpdate: true,
		Default:                  setDefaults,
		Validate:                 validate,
		Warnings:                 warnings,
		Columns: []store.Column[Endpoints]{
			store.NameColumn[Endpoints](),
			{
				Name: "Endpoints", Type: "string",
				Description: "The first ready addresses with their ports, and how many more there are.",
				Cell:        summary,
			},
			store.AgeColumn[Endpoints](),
		},
	})
})

// Kind returns the kind Endpoints.
func Kind() *store.Kind[Endpoints] { return kind() }

// In returns the Endpoints of a store.
func In(st *store.Store) *store.Collection[Endpoints] { return kind().In(st) }

func setDefaults(e *Endpoints) {
	for _, s := range e.Subsets {
		for i := range s.Ports {
			s.Ports[i].Protocol = cmp.Or(s.Ports[i].Protocol, ProtocolTCP)
		}
	}
}

// summary returns the cell of the column Endpoints: at most three ready endpoints, in
// the order of Expand (upstream: printers/internalversion).
func summary(e *Endpoints, _ time.Time) any {
	if len(e.Subsets) == 0 {
		return "<none>"
	}
	const most = 3
	var cell strings.Builder
	count := 0
	for t := range Expand(e.Subsets) {
		if !t.Ready {
			continue
		}
		if count++; count > most {
			continue
		}
		if count > 1 {
			cell.WriteByte(',')
		}
		cell.WriteString(t.String())
	}
	if count > most {
		fmt.Fprintf(&cell, " + %d more...", count-most)
	}
	return cell.String()
}
