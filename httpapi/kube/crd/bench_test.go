package crd_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// BenchmarkSchemaUpdate is an update of the schema of 20,000 objects, beside writers of these objects, until the API serves the new
// schema. stale/op are the writes that were made under the old schema meanwhile. An update that is not served after a minute counts as
// unserved. A real server reads objects by the new schema, and has none of this.
func BenchmarkSchemaUpdate(b *testing.B) {
	for _, writers := range []int{0, 1, 4} {
		b.Run(fmt.Sprint(writers, "-writers"), func(b *testing.B) { benchmarkSchemaUpdate(b, writers) })
	}
}

func benchmarkSchemaUpdate(b *testing.B, writers int) {
	const objects = 20_000
	s := live(b, newStore(b, store.Options{}))
	s.do("POST", definitionsPath, asJSON(b, widgets))
	established(b, s)
	widget := func(i int) *store.Unstructured {
		return &store.Unstructured{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("w", i)}, Content: map[string]any{"spec": map[string]any{"color": "red"}}}
	}
	for i := range objects {
		_, err := served(b, s).Create(b.Context(), widget(i), store.CreateOptions{})
		require.NoError(b, err)
	}
	var stale, unserved atomic.Int64
	for n := 0; b.Loop(); n++ {
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		old := served(b, s)
		text := fmt.Sprintf(`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more%d","value":{"type":"string","default":"yes"}}]`, n)
		code, doc := s.do("PATCH", definitionsPath+"/widgets.example.com", text, "Content-Type", "application/json-patch+json")
		require.Equal(b, 200, code, "%v", doc)
		var work sync.WaitGroup
		for w := range writers {
			work.Go(func() {
				for i := w; ctx.Err() == nil; i = (i + writers) % objects {
					_, err := old.Modify(ctx, "ns", fmt.Sprint("w", i), func(u *store.Unstructured) error {
						u.Labels = map[string]string{"n": strconv.Itoa(int(stale.Load()))}
						return nil
					}, store.UpdateOptions{})
					if err != nil {
						return // the kind was replaced
					}
					stale.Add(1)
				}
			})
		}
		for _, err := range old.Watch(ctx, store.WatchOptions{LabelSelector: "none=none"}) {
			if err != nil {
				break // the kind was replaced
			}
		}
		if ctx.Err() != nil {
			unserved.Add(1)
		}
		cancel()
		work.Wait()
	}
	b.ReportMetric(float64(stale.Load())/float64(b.N), "stale/op")
	b.ReportMetric(float64(unserved.Load())/float64(b.N), "unserved/op")
}

// established waits until the widgets are served.
func established(b *testing.B, s *server) {
	definitions, err := store.As[apiextensionsv1.CustomResourceDefinition](crd.Definitions())
	require.NoError(b, err)
	for ev, err := range definitions.In(s.api.Store()).Watch(b.Context(), store.WatchOptions{}) {
		require.NoError(b, err)
		if ev.Object != nil && strings.Contains(fmt.Sprint(ev.Object.Status), "InitialNamesAccepted") {
			return
		}
	}
}

// served returns the widgets of the present kind.
func served(b *testing.B, s *server) *store.Collection[store.Unstructured] {
	kinds := s.api.Kinds()
	kind, err := store.As[store.Unstructured](kinds[len(kinds)-1])
	require.NoError(b, err)
	return kind.In(s.api.Store())
}

// BenchmarkDefinitions is the time until 250 definitions are served, all of one group, or each of a group of its own.
func BenchmarkDefinitions(b *testing.B) {
	for name, group := range map[string]func(i int) string{
		"one-group":  func(int) string { return "example.com" },
		"250-groups": func(i int) string { return fmt.Sprintf("g%d.example.com", i) },
	} {
		b.Run(name, func(b *testing.B) {
			const n = 250
			for b.Loop() {
				crd.Forget()
				s := live(b, newStore(b, store.Options{}))
				for i := range n {
					code, doc := s.do("POST", definitionsPath, asJSON(b, defining(fmt.Sprintf("kind%ds", i), group(i), fmt.Sprintf("Kind%d", i), "Cluster")))
					require.Equal(b, 201, code, "%v", doc)
				}
				definitions, err := store.As[apiextensionsv1.CustomResourceDefinition](crd.Definitions())
				require.NoError(b, err)
				done := map[string]bool{}
				for ev, err := range definitions.In(s.api.Store()).Watch(b.Context(), store.WatchOptions{}) {
					require.NoError(b, err)
					if strings.Contains(fmt.Sprint(ev.Object.Status), "InitialNamesAccepted") {
						done[ev.Object.Name] = true
					}
					if len(done) == n {
						break
					}
				}
				s.api.Close()
			}
		})
	}
}

// BenchmarkDefinitionsOfAGroup makes 1,500 definitions of one group, one after the other, each until it is established. first-ms and last-ms
// are what the first and the last 250 take.
func BenchmarkDefinitionsOfAGroup(b *testing.B) {
	const all, part = 1500, 250
	for b.Loop() {
		s := live(b, newStore(b, store.Options{}))
		definitions, err := store.As[apiextensionsv1.CustomResourceDefinition](crd.Definitions())
		require.NoError(b, err)
		next, stop := iter.Pull2(definitions.In(s.api.Store()).Watch(b.Context(), store.WatchOptions{}))
		start := time.Now()
		for i := range all {
			switch i {
			case part:
				b.ReportMetric(float64(time.Since(start).Milliseconds()), "first-ms")
			case all - part:
				start = time.Now()
			}
			code, doc := s.do("POST", definitionsPath, asJSON(b, defining(fmt.Sprintf("kind%ds", i), "example.com", fmt.Sprintf("Kind%d", i), "Cluster")))
			require.Equal(b, 201, code, "%v", doc)
			for done := false; !done; {
				ev, err, _ := next()
				require.NoError(b, err)
				done = ev.Object != nil && strings.Contains(fmt.Sprint(ev.Object.Status), "InitialNamesAccepted")
			}
		}
		stop()
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "last-ms")
	}
}
