package kind_test

import (
	"context"
	"fmt"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// A schema stands in for a Go type: the store fills in defaults, drops unknown members, and merges the lists of two
// appliers by their keys.
func ExampleVersion_schema() {
	port := &schema.Schema{Type: "object", Properties: []schema.Property{
		{Name: "port", Schema: &schema.Schema{Type: "integer"}},
		{Name: "protocol", Schema: &schema.Schema{Type: "string", Default: "TCP"}},
	}}
	spec := &schema.Schema{Type: "object", Properties: []schema.Property{
		{Name: "ports", Schema: &schema.Schema{Type: "array", Items: port, ListType: "map", ListMapKeys: []string{"port", "protocol"}}},
	}}
	k := store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Listener"},
		Versions: []kind.Version[*store.Unstructured]{{
			Name:   "v1",
			Schema: &schema.Schema{Type: "object", Properties: []schema.Property{{Name: "spec", Schema: spec}}},
		}},
	})
	st := store.New(store.Options{})
	defer st.Close()
	listeners := k.In(st)

	for i, team := range []string{"web", "dns"} {
		listener, err := listeners.Apply(context.Background(), &store.Unstructured{
			ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "edge"},
			Content:    map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": 80 - 27*i}}}},
		}, store.ApplyOptions{FieldManager: team})
		fmt.Println(listener.Content["spec"], err)
	}
	// Output:
	// map[ports:[map[port:80 protocol:TCP]]] <nil>
	// map[ports:[map[port:80 protocol:TCP] map[port:53 protocol:TCP]]] <nil>
}
