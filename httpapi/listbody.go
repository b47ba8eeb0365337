package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/kubecoord/kubecoord/internal/yaml"
)

// listBody is the body of a list that is written item by item, so that a long list
// needs no more memory than a short one.
type listBody struct {
	head, foot []byte
	separator  string // between two items
	n          int    // the number of items
	size       int    // of all items with the separators, or unknownSize
	// item appends an item to dst. It may be called again for the same item.
	item func(dst []byte, i int) ([]byte, error)
	// joined, if not nil, is the rest of the list after head. convert clears it.
	joined []byte
}

const unknownSize = -1

// appendItems appends all items.
func (b *listBody) appendItems(dst []byte) ([]byte, error) {
	for i := range b.n {
		if i > 0 {
			dst = append(dst, b.separator...)
		}
		var err error
		if dst, err = b.item(dst, i); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// itemMark stands for the items while the rest of a list is converted.
const (
	itemMark     = `"\u0001"`
	itemMarkYAML = "- \"\\x01\"\n"
)

// convert converts a list: the rest of it as one document, in which mark becomes the
// place of the items, and each item by itself.
func (b *listBody) convert(rest func([]byte) ([]byte, error), mark string, item func(dst, item []byte) ([]byte, error)) error {
	skeleton := bytes.Clone(b.head)
	if b.n > 0 {
		skeleton = append(skeleton, itemMark...)
	}
	text, err := rest(append(skeleton, b.foot...))
	if err != nil {
		return err
	}
	b.head, b.foot = text, nil
	if b.n > 0 {
		b.head, b.foot, _ = bytes.Cut(text, []byte(mark))
	}
	original := b.item
	var buf []byte
	b.item = func(dst []byte, i int) ([]byte, error) {
		var err error
		if buf, err = original(buf[:0], i); err != nil {
			return dst, err
		}
		return item(dst, buf)
	}
	b.joined, b.size = nil, unknownSize
	return nil
}

// indent converts a list to indented JSON.
func (b *listBody) indent() error {
	const inside = "    " // before each line of an item
	b.separator = ",\n" + inside
	return b.convert(
		func(data []byte) ([]byte, error) { return appendIndented(nil, data, "") }, itemMark,
		func(dst, item []byte) ([]byte, error) { return appendIndented(dst, item, inside) })
}

// toYAML converts a list to YAML. It reports false if JSON of the list cannot be read as
// YAML. The error comes from the encoding of an item.
func (b *listBody) toYAML(ctx context.Context) (bool, error) {
	// An item is converted in a sequence that is the whole document: its indentation is the same.
	item := b.item
	var buf []byte
	for i := range b.n {
		if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		var err error
		if buf, err = item(append(buf[:0], '['), i); err != nil {
			return false, err
		}
		if buf = append(buf, ']'); !yaml.IsPlain(buf) {
			if _, err := yaml.FromJSON(buf); err != nil {
				return false, nil
			}
		}
	}
	err := b.convert(yaml.FromJSON, itemMarkYAML, func(dst, item []byte) ([]byte, error) {
		text, err := yaml.FromJSON(append(append([]byte{'['}, item...), ']'))
		return append(dst, text...), err
	})
	if err != nil {
		return false, nil
	}
	b.separator = ""
	return true, nil
}

// writeListBody answers with a list of JSON or protobuf. It converts JSON to YAML, or
// indents it, if the client wants that (see writeDocument).
func (c *call) writeListBody(b *listBody) error {
	m := c.media
	if m.format == formatYAML {
		ok, err := b.toYAML(c.req.Context())
		if err != nil {
			return err
		}
		if !ok {
			m.format = formatJSON
		}
	}
	if m.format == formatJSON && (!m.pretty || b.indent() != nil) {
		b.foot = append(b.foot, '\n')
	}
	return c.sendList(mediaTypeOf(m.format)+m.suffix, b)
}

// The sizes of the writes of a list in bytes, and how many items it writes before it
// looks at the context. A Transport holds a write of twice the buffer, see pipeBuffer.
const (
	listBuffer = 64 << 10
	listWrite  = 256 << 10
	checkEvery = 64
)

// sendList sends a list. Content-Length is set if the size is known or the list is
// short; as from a real server, other lists are in chunks. An error before the first
// byte is returned. After that it cuts the answer.
func (c *call) sendList(contentType string, b *listBody) error {
	h := c.Header()
	h["Content-Type"] = []string{contentType}
	if b.size != unknownSize {
		h["Content-Length"] = []string{strconv.Itoa(len(b.head) + b.size + len(b.foot))}
	}
	if b.joined != nil {
		c.WriteHeader(http.StatusOK)
		c.Write(b.head)
		for i := 0; i < len(b.joined); i += listWrite {
			if i > 0 && c.req.Context().Err() != nil {
				panic(http.ErrAbortHandler)
			}
			if _, err := c.Write(b.joined[i:min(i+listWrite, len(b.joined))]); err != nil {
				break // the client is gone
			}
		}
		return nil
	}
	for i := 0; ; {
		var err error
		c.api.lists.Use(func(buf []byte) []byte {
			buf, i, err = c.sendPart(buf, b, i)
			return c.unread(buf)
		})
		if err != nil || i > b.n {
			return err
		}
		c.takeTurn() // without a buffer, which a slow client could keep from others
	}
}

// sendPart sends the part of a list that begins with an item, and returns the item of the next
// part. That is n for the foot, and n+1 after it. It makes the part in buf, which it returns.
func (c *call) sendPart(buf []byte, b *listBody, i int) ([]byte, int, error) {
	h, ctx := c.Header(), c.req.Context()
	if c.code == 0 {
		buf = append(buf, b.head...)
	}
	for ; i < b.n && len(buf) < listBuffer; i++ {
		var err error
		if i > 0 {
			buf = append(buf, b.separator...)
		}
		if i%checkEvery == checkEvery-1 {
			err = ctx.Err()
		}
		if err == nil {
			buf, err = b.item(buf, i)
		}
		switch {
		case err != nil && c.code == 0:
			h.Del("Content-Length")
			return buf, i, c.orClosed(err)
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
	if i == b.n && len(buf) < listBuffer {
		buf = append(buf, b.foot...)
		i++
		if c.code == 0 && b.size == unknownSize {
			h["Content-Length"] = []string{strconv.Itoa(len(buf))}
		}
	}
	if c.code == 0 {
		c.WriteHeader(http.StatusOK)
	}
	if _, err := c.Write(buf); err != nil {
		i = b.n + 1 // the client is gone
	}
	return buf, i, nil
}
