package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	kjson "sigs.k8s.io/json"
)

// generator makes documents that nearly fit a schema.
type generator struct{ *rand.Rand }

func (g generator) value(s *structuralschema.Structural, depth int) any {
	if g.IntN(30) == 0 {
		return nil
	}
	if s == nil || depth > 9 || g.IntN(40) == 0 {
		return []any{"text", int64(3), 1.5, true, map[string]any{"odd": int64(1)}, []any{"a", map[string]any{"b": nil}}, []any{}, map[string]any{}}[g.IntN(8)]
	}
	switch {
	case s.Type == "object":
		return g.object(s, depth)
	case s.Type == "array":
		list := []any{}
		for range g.IntN(3) {
			list = append(list, g.value(s.Items, depth+1))
		}
		return list
	case s.Type == "integer":
		return int64(g.IntN(5))
	case s.Type == "boolean":
		return g.IntN(2) == 0
	}
	return "text"
}

func (g generator) object(s *structuralschema.Structural, depth int) map[string]any {
	doc := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if n := len(s.Properties); n < 5 || g.IntN(n) < 4 {
			doc[name] = g.value(&p, depth+1)
		}
	}
	if g.IntN(5) == 0 {
		doc["unknown"] = map[string]any{"x": int64(1)}
	}
	if a := s.AdditionalProperties; a != nil {
		doc["more"] = g.value(a.Structural, depth+1)
	}
	if s.XEmbeddedResource {
		doc["apiVersion"], doc["kind"] = "v1", "Thing"
		doc["metadata"] = map[string]any{"name": "x", "unknown": "y", "labels": map[string]any{"a": "b"}}
	}
	return doc
}

// byUpstream reads a document as upstream's decoder of custom resources does (apiserver/customresource_handler.go). The
// metadata of the object itself is left as it is.
func byUpstream(doc map[string]any, s *structuralschema.Structural) (unknown []string, err error) {
	unknown = pruning.PruneWithOptions(doc, s, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(doc, s)
	bad, more := objectmeta.CoerceWithOptions(nil, doc, s, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if bad != nil {
		return nil, bad
	}
	defaulting.Default(doc, s)
	return append(unknown, more...), nil
}

// TestBodiesAreReadAsByUpstreamsPackages compares the root's pruning and defaulting with upstream's.
func TestBodiesAreReadAsByUpstreamsPackages(t *testing.T) {
	forProjects(t, func(t *testing.T, k *definedKind) {
		for i, v := range versionsOf(k.crd) {
			props, err := schemaOf(k.crd, v.Name)
			require.NoError(t, err)
			s, err := structuralOf(props)
			require.NoError(t, err)
			unknown := 0
			for seed := range uint64(300) {
				unknown += compareReading(t, k, i, s, generator{rand.New(rand.NewPCG(seed, 1))})
			}
			assert.Greater(t, unknown, 100, "too few unknown fields to compare")
		}
	})
}

// compareReading compares one random document, and returns the number of its unknown fields.
func compareReading(t *testing.T, k *definedKind, version int, s *structuralschema.Structural, g generator) int {
	doc := g.object(s, 0)
	named := k.Kind.TypeMeta(version)
	doc["kind"], doc["apiVersion"], doc["metadata"] = named.Kind, named.APIVersion, map[string]any{"name": "x"}
	body, err := json.Marshal(doc)
	require.NoError(t, err)
	var want map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &want))
	unknown, wantErr := byUpstream(want, s)

	var tree map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &tree))
	o, problems, err := k.FromTree(tree, version)
	if wantErr != nil {
		assert.Error(t, err, "upstream: %v\n%s", wantErr, body)
		return 0
	}
	require.NoError(t, err, "%s", body)
	got, err := k.DefaultTree(k.Tree(o, version), version)
	require.NoError(t, err)
	for _, member := range []string{"kind", "apiVersion", "metadata"} {
		delete(got, member)
		delete(want, member)
	}
	if !assert.Equal(t, want, got, "%s", body) {
		t.FailNow()
	}
	texts := []string{}
	for _, path := range unknown {
		texts = append(texts, fmt.Sprintf("unknown field %q", path))
	}
	assert.Equal(t, strings.Join(texts, "\n"), lines(problems), "%s", body)
	return len(unknown)
}

func lines(errs []error) string {
	if len(errs) == 0 {
		return ""
	}
	return errors.Join(errs...).Error()
}
