// Package documents splits files of YAML as kubectl does.
package documents

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// In returns the documents of a file. The first error is the last element.
func In(text []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
			doc, err := reader.Read()
			if errors.Is(err, io.EOF) || !yield(doc, err) || err != nil {
				return
			}
		}
	}
}
