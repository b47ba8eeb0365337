package scheme

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	storeschema "github.com/kubecoord/kubecoord/store/schema"
)

// TestListTypesAreThoseOfClientGo compares the schemas with the ones that client-go's apply configurations have, which
// upstream makes from its OpenAPI document.
func TestListTypesAreThoseOfClientGo(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "applyconfigurations", "internal", "internal.go"))
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(source), "typed.YAMLObject(`")
	require.True(t, ok)
	text, _, ok = strings.Cut(text, "`)")
	require.True(t, ok)
	published, err := typed.NewParser(typed.YAMLObject(text))
	require.NoError(t, err)

	b := newBuilder()
	seen := map[string]bool{}
	everyType(t, func(t *testing.T, o *objectType, _ *storeschema.Schema) {
		s, err := b.schemaOf(o.goType)
		require.NoError(t, err)
		compareType(t, s, &published.Schema, seen)
	})
	assert.Greater(t, len(seen), 400)
}

// compareType compares a schema with the published type of its name.
func compareType(t *testing.T, s *storeschema.Schema, published *schema.Schema, seen map[string]bool) {
	if s.Name == "" || seen[s.Name] || s.Properties == nil {
		return
	}
	seen[s.Name] = true
	def, ok := published.FindNamedType(s.Name)
	if !ok || def.Map == nil {
		return // a type without members, or one of apimachinery that applies as a whole
	}
	assert.Equal(t, def.Map.ElementRelationship == schema.Atomic, s.Atomic, s.Name)
	for _, p := range s.Properties {
		field, ok := def.Map.FindField(p.Name)
		if p.Name == "apiVersion" || p.Name == "kind" || !assert.True(t, ok, "%s.%s", s.Name, p.Name) {
			continue
		}
		compareMember(t, s.Name+"."+p.Name, p.Schema, field)
		for _, inner := range []*storeschema.Schema{p.Schema, p.Schema.Items, p.Schema.Additional} {
			if inner != nil {
				compareType(t, inner, published, seen)
			}
		}
	}
}

func compareMember(t *testing.T, path string, s *storeschema.Schema, field schema.StructField) {
	switch list, object := field.Type.Inlined.List, field.Type.Inlined.Map; {
	case list != nil:
		got := s.ListType
		if got == "" {
			got = "atomic"
		}
		want := "atomic"
		if list.ElementRelationship == schema.Associative {
			if want = "set"; len(list.Keys) > 0 {
				want = "map"
			}
		}
		assert.Equal(t, want, got, path)
		assert.Equal(t, list.Keys, s.ListMapKeys, path)
	case object != nil && s.Name == "":
		assert.Equal(t, object.ElementRelationship == schema.Atomic, s.Atomic, path)
	case field.Type.NamedType != nil && field.Type.ElementRelationship != nil:
		assert.Equal(t, *field.Type.ElementRelationship == schema.Atomic, s.Atomic, path)
	case field.Type.Inlined.Scalar != nil && field.Default != nil && s.Default != nil:
		assert.EqualValues(t, field.Default, s.Default, path)
	}
	if field.Type.Inlined.Scalar != nil {
		assert.Equal(t, field.Default != nil, s.Default != nil, "the default of %s", path)
	}
}
