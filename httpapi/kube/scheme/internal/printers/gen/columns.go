package main

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// recordColumns returns the content of columns.txt.
func recordColumns(s *server) ([]byte, error) {
	var version struct{ GitVersion string }
	if _, err := s.do("GET", "/version", acceptJSON, nil, &version); err != nil {
		return nil, err
	}
	kinds, err := s.columns()
	if err != nil {
		return nil, err
	}
	return text(version.GitVersion, kinds), nil
}

// text returns the columns by group/version/kind as package printers reads them. Kinds with the same columns share a section.
func text(version string, kinds map[string][]metav1.TableColumnDefinition) []byte {
	sections := map[string][]string{}
	for kind, columns := range kinds {
		var lines strings.Builder
		for _, c := range columns {
			fmt.Fprintf(&lines, "\t%s\t%s\t%s\t%d\t%q\n", c.Name, c.Type, c.Format, c.Priority, c.Description)
		}
		sections[lines.String()] = append(sections[lines.String()], kind)
	}
	var sorted []string
	for lines, names := range sections {
		slices.Sort(names)
		sorted = append(sorted, strings.Join(names, "\n")+"\n"+lines)
	}
	slices.Sort(sorted)
	return fmt.Appendf(nil, "# Made by gen from the Tables of kube-apiserver %s. Do not edit.\n%s", version, strings.Join(sorted, ""))
}

// columns returns the columns by group/version/kind.
func (s *server) columns() (map[string][]metav1.TableColumnDefinition, error) {
	kinds := map[string][]metav1.TableColumnDefinition{}
	for _, r := range s.resources {
		var path string
		switch {
		case !strings.Contains(r.name, "/") && slices.Contains(r.verbs, "list"):
			path = r.collection() + "?limit=1"
		case r.name == "deployments/scale":
			var done func()
			var err error
			if path, done, err = s.scale(r); err != nil {
				return nil, err
			}
			defer done()
		default:
			continue
		}
		var table metav1.Table
		if _, err := s.do("GET", path, acceptTable, nil, &table); err != nil {
			return nil, err
		}
		kinds[r.Group+"/"+r.Version+"/"+r.Kind] = table.ColumnDefinitions
	}
	return kinds, nil
}

// scale creates a deployment and returns the path of its scale.
func (s *server) scale(r resource) (path string, done func(), err error) {
	deployments := strings.TrimSuffix(r.collection(), "/scale")
	deployment := map[string]any{
		"metadata": map[string]any{"name": "scaled"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
			},
		},
	}
	if _, err := s.do("POST", deployments, acceptJSON, deployment, nil); err != nil {
		return "", nil, err
	}
	one := deployments + "/scaled"
	return one + "/scale", func() { s.do("DELETE", one, acceptJSON, nil, nil) }, nil
}
