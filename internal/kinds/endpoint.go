package kinds

import "github.com/kubecoord/kubecoord/store/kind"

// Endpoint is a kind in one version, as an API serves it. The kind's stores and APIs share it.
type Endpoint struct {
	Target
	Info       *kind.Info
	APIVersion string // group and version, such as coordination.k8s.io/v1
	// JSONHead and JSONListHead precede the cached bytes of an object and of list items.
	JSONHead, JSONListHead string
}

// Endpoints returns the kind in each of its versions, in their order.
func (k *Kind) Endpoints() []*Endpoint { return k.endpoints() }

func (k *Kind) makeEndpoints() (all []*Endpoint) {
	for i := range k.versions {
		t := k.TypeMeta(i)
		e := &Endpoint{Target: Target{k, i}, Info: &k.info, APIVersion: t.APIVersion}
		e.JSONHead = `{"kind":"` + t.Kind + `","apiVersion":"` + t.APIVersion + `",`
		e.JSONListHead = `{"kind":"` + k.info.ListKind + `","apiVersion":"` + t.APIVersion + `","metadata":`
		if k.info.Trees {
			e.JSONHead = `{"apiVersion":"` + t.APIVersion + `","kind":"` + t.Kind + `",`
		}
		all = append(all, e)
	}
	return all
}
