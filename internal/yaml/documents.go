package yaml

import (
	"bytes"
	"io"
	"iter"

	"go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"
)

// Document is one document of a stream.
type Document struct {
	// JSON is the document as JSON. A duplicate key has its first value.
	JSON []byte
	// Duplicates are the duplicate keys, as [ToJSON] returns them.
	Duplicates []error
	// Line is where the content begins, from one.
	Line int

	root yamlv3.Node
}

// Documents returns the documents of a stream. Lines count from the start of the
// stream. The first error is the last element.
func Documents(data []byte) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if err := checkDirectives(data); err != nil {
			yield(Document{}, err)
			return
		}
		r := reader{yamlv3.NewDecoder(bytes.NewReader(data)), yaml.NewDecoder(bytes.NewReader(data))}
		r.values.SetStrict(true)
		for {
			d, err := r.next()
			if err == io.EOF || !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// reader reads a stream twice: v3 finds the positions, v2 decodes the values.
type reader struct {
	nodes  *yamlv3.Decoder
	values *yaml.Decoder
}

// next returns the next document, or io.EOF.
func (r *reader) next() (d Document, err error) {
	defer recoverTo(&err)
	if err := r.nodes.Decode(&d.root); err != nil && err != io.EOF {
		return d, r.mistake(err)
	}
	if err := checkNode(&d.root); err != nil {
		return d, err
	}
	var value any
	if err := r.values.Decode(&value); err != nil {
		d.Duplicates = duplicateKeys(err)
		if d.Duplicates == nil {
			return d, err
		}
	}
	if len(d.root.Content) > 0 {
		d.Line = d.root.Content[0].Line
	}
	d.JSON, err = marshalJSON(value)
	return d, err
}

// mistake returns v2's error for a mistake that v3 found. v3 reads further ahead, so v2
// may find it in a later document.
func (r *reader) mistake(errV3 error) (err error) {
	for err == nil {
		err = r.values.Decode(&skipped{})
	}
	if err == io.EOF {
		return errV3
	}
	return err
}

// ItemLines returns the lines at which the items of a sequence begin. The
// sequence is a member of the document.
func (d Document) ItemLines(name string) (lines []int) {
	if len(d.root.Content) == 0 || d.root.Content[0].Kind != yamlv3.MappingNode {
		return nil
	}
	members := d.root.Content[0].Content
	for i := 0; i+1 < len(members); i += 2 {
		if key, items := members[i], members[i+1]; key.Value == name && items.Kind == yamlv3.SequenceNode {
			lines = lines[:0] // the last one counts
			for _, item := range items.Content {
				lines = append(lines, item.Line)
			}
		}
	}
	return lines
}
