package yaml

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"
)

// maxTagDirectives is how many %TAG directives a stream may have. v2 compares each
// with all before it: 3 MiB of them would take a minute.
const maxTagDirectives = 100

// checkDirectives refuses a stream with too many %TAG directives, in any of the
// encodings that v2 reads. The text %TAG inside of a scalar counts too.
func checkDirectives(data []byte) error {
	if bytes.Count(data, []byte("%TAG"))+bytes.Count(data, []byte("%\x00T")) > maxTagDirectives {
		return fmt.Errorf("yaml: got more than %d %%TAG directives, want fewer", maxTagDirectives)
	}
	return nil
}

// maxAliasText is how many bytes of text aliases may add to a document.
const maxAliasText = 16 << 20

// errExcessiveAliasing has the text of v2's error for too many aliased nodes.
var errExcessiveAliasing = errors.New("yaml: document contains excessive aliasing")

// checkAliases refuses a document with aliases that add too much text.
func checkAliases(data []byte) error {
	if bytes.IndexByte(data, '&') < 0 || bytes.IndexByte(data, '*') < 0 {
		return nil
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(data, &root); err != nil {
		// v3 also reads the two tokens after the document, where v2 stops. Each
		// alias can at most double the text.
		if aliases := bytes.Count(data, []byte{'*'}); aliases <= 24 && int64(len(data))<<aliases <= maxAliasText {
			return nil
		}
		if errV2 := yaml.Unmarshal(data, &skipped{}); errV2 != nil {
			return errV2
		}
		return err
	}
	return checkNode(&root)
}

// checkNode is checkAliases for a document that v3 has read.
func checkNode(root *yamlv3.Node) error {
	m := measurer{sizes: make(map[*yamlv3.Node]int)}
	if m.size(root); m.aliased > maxAliasText {
		return errExcessiveAliasing
	}
	return nil
}

// measurer measures the text of nodes with their aliases.
type measurer struct {
	sizes   map[*yamlv3.Node]int // of the nodes with anchors
	aliased int                  // the text that aliases have added
}

// size returns how long the text of a node is. Beyond maxAliasText it counts no
// further, except in a single text. An alias comes after its anchor, so an alias without a size is
// inside of the node that it names. v2 refuses that one.
func (m *measurer) size(n *yamlv3.Node) int {
	if n.Kind == yamlv3.AliasNode {
		size := m.sizes[n.Alias]
		m.aliased = min(m.aliased+size, maxAliasText+1)
		return size
	}
	size := len(n.Value)
	for _, child := range n.Content {
		size = min(size+m.size(child), maxAliasText+1)
	}
	if n.Anchor != "" {
		m.sizes[n] = size
	}
	return size
}

// skipped is a document that is parsed and not decoded.
type skipped struct{}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (*skipped) UnmarshalYAML(func(any) error) error { return nil }
