package crd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/documents"
	"github.com/kubecoord/kubecoord/store/kind"
)

// definitionKind and definitionVersion are the type of a document that this package reads.
const (
	definitionKind    = "CustomResourceDefinition"
	definitionGroup   = "apiextensions.k8s.io"
	definitionVersion = definitionGroup + "/v1"
)

// Parse returns the kinds of the CustomResourceDefinitions in a file: YAML documents, or JSON. A document of another type,
// an unknown field and a duplicate key are errors.
func Parse(data []byte) ([]kind.Kind, error) {
	crds, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("crd: %w", err)
	}
	return Kinds(crds...)
}

// Read returns the kinds of the CustomResourceDefinitions in the files of a directory and the directories below it whose
// names end in .yaml, .yml or .json. It is an error if there is no definition.
func Read(dir fs.FS) ([]kind.Kind, error) {
	var crds []*apiextensions.CustomResourceDefinition
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		found, err := parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		crds = append(crds, found...)
		return nil
	})
	if err == nil && len(crds) == 0 {
		err = errors.New("got a directory without definitions, want at least one file .yaml, .yml or .json")
	}
	if err != nil {
		return nil, fmt.Errorf("crd: %w", err)
	}
	return Kinds(crds...)
}

// parse reads the definitions of a file.
func parse(data []byte) (crds []*apiextensions.CustomResourceDefinition, err error) {
	n := 0
	for doc, err := range documents.In(data) {
		n++
		var crd *apiextensions.CustomResourceDefinition
		if err == nil {
			crd, err = decode(doc)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if crd != nil {
			crds = append(crds, crd)
		}
	}
	return crds, nil
}

// decode reads one document. It returns nil for an empty one.
func decode(doc []byte) (*apiextensions.CustomResourceDefinition, error) {
	text, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return nil, err
	}
	if text = bytes.TrimSpace(text); string(text) == "null" {
		return nil, nil
	}
	var crd apiextensions.CustomResourceDefinition
	problems, err := kjson.UnmarshalStrict(text, &crd)
	if err != nil {
		return nil, err
	}
	if crd.Kind != definitionKind || crd.APIVersion != definitionVersion {
		return nil, fmt.Errorf("got kind %q of %q, want %s of %s", crd.Kind, crd.APIVersion, definitionKind, definitionVersion)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("CustomResourceDefinition %q: %w", crd.Name, cmp.Or(problems...))
	}
	return &crd, nil
}
