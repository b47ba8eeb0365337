package httpapi

import (
	"context"
	"net"
	"net/http"
	"reflect"
	"strconv"
)

// chunk is a part of a body in the chunked transfer coding of HTTP/1.1 (RFC 9112, section 7.1): the
// size in hexadecimal, a line end, the data, a line end.
type chunk struct {
	all  []byte
	head int // the length of the first line
}

// data returns the data without the transfer coding.
func (c chunk) data() []byte { return c.all[c.head : len(c.all)-len(lineEnd)] }

const (
	lineEnd   = "\r\n"
	chunkHead = "xxxxxxxx" + lineEnd // room for the first line, with a size of up to 32 bits
)

// endChunk returns the chunk whose data follows a chunkHead in buf, and buf with its end.
func endChunk(buf []byte) (chunk, []byte) {
	var size [len(chunkHead)]byte
	line := append(strconv.AppendUint(size[:0], uint64(len(buf)-len(chunkHead)), 16), lineEnd...)
	start := len(chunkHead) - len(line)
	copy(buf[start:], line)
	buf = append(buf, lineEnd...)
	return chunk{buf[start:], len(line)}, buf
}

type connKey struct{}

// ConnContext is for the field of http.Server with this name. With it a watch of HTTP/1.1 writes its
// events to the connection without the buffers of net/http.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// connection returns the connection to write chunks to, or nil if the ResponseWriter does not come
// from an HTTP/1.1 server of net/http without a wrapper, or the answer is not in chunks.
func (c *call) connection() net.Conn {
	conn, _ := c.req.Context().Value(connKey{}).(net.Conn)
	h := c.Header()
	if conn == nil || c.req.ProtoMajor != 1 || c.req.ProtoMinor == 0 || !isServersOwn(c.w) ||
		h["Content-Length"] != nil || h["Transfer-Encoding"] != nil {
		return nil
	}
	return conn
}

// isServersOwn reports whether w comes from net/http without a wrapper.
func isServersOwn(w http.ResponseWriter) bool {
	t := reflect.TypeOf(w)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "net/http" && t.Elem().Name() == "response"
}
