package endpoints

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// All stores of a process share the kind.
var shared = sync.OnceValue(func() *store.Kind[Endpoints] {
	return store.MustKind(kind.Descriptor[*Endpoints]{
		Resource: kind.Resource{Kind: "Endpoints", Plural: "endpoints", ShortNames: []string{"ep"}},
		Native:   &kind.Native[*Endpoints]{StoragePrefix: "services/endpoints"},
		Versions: []kind.Version[*Endpoints]{{
			Name: "v1", Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		}},
		Strategy: kind.Strategy[*Endpoints]{
			Default: setDefaults, Validate: validate, Warnings: warnings,
			Update: kind.UpdateStrategy[*Endpoints]{CreateMissing: true, Unconditional: true},
		},
		Table: kind.Table[*Endpoints]{Columns: []kind.Column[*Endpoints]{
			kind.NameColumn[*Endpoints](),
			{
				Name: "Endpoints", Type: "string",
				Description: "The first ready addresses with their ports, and how many more there are.",
				Cell:        summary,
			},
			kind.AgeColumn[*Endpoints](),
		}},
	})
})

// Kind returns the kind Endpoints.
func Kind() *store.Kind[Endpoints] { return shared() }

// In returns the Endpoints of a store.
func In(st *store.Store) *store.Collection[Endpoints] { return shared().In(st) }

func setDefaults(e *Endpoints) {
	for _, s := range e.Subsets {
		for i := range s.Ports {
			s.Ports[i].Protocol = cmp.Or(s.Ports[i].Protocol, ProtocolTCP)
		}
	}
}

// summary shows at most three ready addresses, port by port (upstream: printers/internalversion).
func summary(e *Endpoints, _ time.Time) any {
	if len(e.Subsets) == 0 {
		return "<none>"
	}
	const most = 3
	var shown []string
	count := 0
	for _, s := range e.Subsets {
		ports := s.Ports
		if len(ports) == 0 {
			ports = make([]EndpointPort, 1)
		}
		for _, p := range ports {
			for _, a := range s.Addresses {
				if count++; count > most {
					continue
				}
				address := a.IP
				if p.Port != 0 {
					address = net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port)))
				}
				shown = append(shown, address)
			}
		}
	}
	cell := strings.Join(shown, ",")
	if count > most {
		cell += fmt.Sprintf(" + %d more...", count-most)
	}
	return cell
}
