package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/yaml"
)

// listBody is the body of a list. It is written in parts, so that a long list needs no more memory than
// a short one.
type listBody struct {
	apiVersion, kind string
	head, foot       []byte
	items            []*registry.Item
	number           protowire.Number // of the items in a protobuf message; 0: JSON
	versionIndex     int              // of whole objects
	// encode appends an item. It is nil for whole objects, whose bytes the registry remembers.
	encode func(dst []byte, it *registry.Item) ([]byte, error)
	// convert, if not nil, appends the JSON of an item in another layout.
	convert   func(dst, item []byte) ([]byte, error)
	separator string // between two items
	size      int    // of all items with the separators; 0 if it is unknown
	joined    []byte // the items with the separators, and the foot, or nil

	buf []byte // of encode
}

// item returns an item before its conversion, until the next call. It must not be changed.
func (b *listBody) item(i int) (data []byte, err error) {
	switch {
	case b.encode != nil:
		b.buf, err = b.encode(b.buf[:0], b.items[i])
		return b.buf, err
	case b.number != 0:
		return b.items[i].Encoded(b.versionIndex, formatProtobuf)
	}
	return b.items[i].Encoded(b.versionIndex, formatJSON)
}

// append appends an item as it is in the list.
func (b *listBody) append(dst []byte, i int) ([]byte, error) {
	item, err := b.item(i)
	if err != nil {
		return dst, err
	}
	if i > 0 {
		dst = append(dst, b.separator...)
	}
	switch {
	case b.number != 0:
		return appendMessage(dst, b.number, item), nil
	case b.convert != nil:
		return b.convert(dst, item)
	}
	return append(dst, item...), nil
}

// measure sets the size of a list of whole objects, or in protobuf. It encodes all items, so that an
// error can still be answered. A list that the registry remembers gets its items joined.
func (c *call) measure(b *listBody, l *registry.List) error {
	f, most := c.media.format, 0
	if b.encode == nil && (f == formatProtobuf || f == formatJSON && !c.media.pretty) {
		b.joined, most = l.Joined(b.versionIndex, f)
		if b.joined != nil {
			b.size = len(b.joined) - len(joinedFoot(f))
			return nil
		}
	}
	b.size = max(len(b.items)-1, 0) * len(b.separator)
	for i := range b.items {
		if err := checkEnd(c.req.Context(), i); err != nil {
			return c.orClosed(err)
		}
		item, err := b.item(i)
		if err != nil {
			return err
		}
		b.size += len(item)
		if b.number != 0 {
			b.size += protowire.SizeTag(b.number) + protowire.SizeVarint(uint64(len(item)))
		}
	}
	if most == 0 || b.size > most {
		return nil
	}
	foot := joinedFoot(f)
	joined, err := make([]byte, 0, b.size+len(foot)), error(nil)
	for i := 0; i < len(b.items) && err == nil; i++ {
		joined, err = b.append(joined, i)
	}
	if err == nil {
		joined = append(joined, foot...)
		l.Remember(b.versionIndex, f, joined)
		b.joined = joined
	}
	return err
}

// joinedFoot returns the foot of every list in a format whose items are joined. It stands behind them: as a write of its own it would
// be one more packet of an answer that has two or three.
func joinedFoot(f format) string {
	if f == formatProtobuf {
		return codec.EnvelopeFoot
	}
	return jsonListFoot + "\n"
}

// jsonListFoot is the foot of a list in JSON.
const jsonListFoot = "]}"

// itemMark stands for the items while the rest of a list is converted.
const (
	itemMark     = `"\u0001"`
	itemMarkYAML = "- \"\\x01\"\n"
)

// convertRest converts a list without its items, in which mark becomes the place of the items.
func (b *listBody) convertRest(convert func([]byte) ([]byte, error), mark string) error {
	skeleton := bytes.Clone(b.head)
	if len(b.items) > 0 {
		skeleton = append(skeleton, itemMark...)
	}
	text, err := convert(append(skeleton, b.foot...))
	if err == nil {
		b.head, b.foot, _ = bytes.Cut(text, []byte(mark))
		b.size = 0
	}
	return err
}

// indent converts a list to indented JSON.
func (b *listBody) indent() error {
	const inside = "    " // before each line of an item
	b.separator = ",\n" + inside
	b.convert = func(dst, item []byte) ([]byte, error) { return appendIndented(dst, item, inside) }
	return b.convertRest(func(data []byte) ([]byte, error) { return appendIndented(nil, data, "") }, itemMark)
}

// toYAML converts a list to YAML. It reports false if JSON of the list cannot be read as YAML. The
// error comes from the encoding of an item.
func (b *listBody) toYAML(ctx context.Context) (bool, error) {
	// An item is converted in a sequence that is the whole document: its indentation is the same.
	sequence := func(item []byte) []byte { return append(append([]byte{'['}, item...), ']') }
	for i := range b.items {
		if err := checkEnd(ctx, i); err != nil {
			return false, err
		}
		item, err := b.item(i)
		if err != nil {
			return false, err
		}
		text := sequence(item)
		if _, isPlain := codec.PlainTree(item); !isPlain || yaml.IsDeep(text) { // in a tenth of the time of a conversion
			if _, err := yaml.FromJSON(text); err != nil {
				return false, nil
			}
		}
	}
	if b.convertRest(yaml.FromJSON, itemMarkYAML) != nil {
		return false, nil
	}
	b.separator = ""
	b.convert = func(dst, item []byte) ([]byte, error) {
		text, err := yaml.FromJSON(sequence(item))
		return append(dst, text...), err
	}
	return true, nil
}

// checkEnd returns the error of a context, which it reads for some of the items of a loop.
func checkEnd(ctx context.Context, i int) error {
	const every = 64
	if i%every < every-1 {
		return nil
	}
	return ctx.Err()
}

// The sizes of the writes of a list, in bytes.
const (
	listBuffer = 64 << 10
	listWrite  = 256 << 10
)

// sendList sends a list. Content-Length is set if the size is known or the list is short; as from a
// real server, other lists are in chunks. An error after the first byte cuts the answer.
func (c *call) sendList(contentType string, b *listBody) (err error) {
	c.setHeader("Content-Type", contentType)
	if b.size > 0 {
		c.setLength(len(b.head) + b.size + len(b.foot))
	}
	if b.joined != nil {
		c.sendJoinedItems(b)
		return nil
	}
	c.api.scratch.Use(func(buf []byte) []byte {
		buf, err = c.sendItems(append(buf, b.head...), b)
		return c.unread(buf)
	})
	return err
}

func (c *call) setLength(n int) { c.setHeader("Content-Length", strconv.Itoa(n)) }

// sendJoinedItems sends a list whose items are joined.
func (c *call) sendJoinedItems(b *listBody) {
	c.Write(b.head)
	for rest := b.joined; len(rest) > 0; {
		n := min(listWrite, len(rest))
		if c.req.Context().Err() != nil {
			panic(http.ErrAbortHandler)
		}
		if _, err := c.Write(rest[:n]); err != nil {
			return // the client is gone
		}
		rest = rest[n:]
	}
}

// sendItems sends a list in parts. It makes them in buf, which begins with the head, and returns buf.
func (c *call) sendItems(buf []byte, b *listBody) ([]byte, error) {
	for i := range b.items {
		err := checkEnd(c.req.Context(), i)
		if err == nil {
			buf, err = b.append(buf, i)
		}
		switch {
		case err != nil && c.code == 0:
			c.Header().Del("Content-Length")
			return buf, c.orClosed(err)
		case err != nil:
			panic(http.ErrAbortHandler)
		case len(buf) < listBuffer:
			continue
		}
		if _, err := c.Write(buf); err != nil {
			return buf, nil // the client is gone
		}
		buf = buf[:0]
		c.takeTurn()
	}
	buf = append(buf, b.foot...)
	if c.code == 0 && b.size == 0 {
		c.setLength(len(buf))
	}
	c.Write(buf)
	return buf, nil
}
