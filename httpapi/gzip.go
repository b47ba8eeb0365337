package httpapi

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// This file compresses answers as a real server does (upstream: apiserver,
// endpoints/handlers/responsewriters/writers.go; for /openapi/v2 kube-openapi, handler).
// Objects, lists, errors and discovery are compressed from a size on. Watches, health
// paths, the index of paths and /openapi/v3 never are.

const (
	// uncompressed is the size up to which a document is not compressed, in bytes.
	uncompressed = 128 << 10
	// gzipLevel is the level of documents.
	gzipLevel = gzip.BestSpeed
	// openAPIUncompressed is the size below which /openapi/v2 is not compressed.
	openAPIUncompressed = 1400
)

// zippers lends the writers that compress documents.
type zippers struct{ pool sync.Pool } // of *gzip.Writer

func (z *zippers) get(w io.Writer) *gzip.Writer {
	zw, _ := z.pool.Get().(*gzip.Writer)
	if zw == nil {
		zw, _ = gzip.NewWriterLevel(w, gzipLevel) // the level is valid
	}
	zw.Reset(w)
	return zw
}

func (z *zippers) put(zw *gzip.Writer) {
	zw.Reset(nil)
	z.pool.Put(zw)
}

// readsGzip reports whether a document may be compressed: the client must name gzip, in
// lower case and without a quality.
func (c *call) readsGzip() bool {
	for coding := range strings.SplitSeq(header(c.req, "Accept-Encoding"), ",") {
		if strings.TrimSpace(coding) == "gzip" {
			return true
		}
	}
	return false
}

// begin sends the header of a document with at least so many bytes, and returns where the
// document goes. The caller calls end after it.
func (c *call) begin(code, size int) (out io.Writer, end func()) {
	if size <= uncompressed || !c.readsGzip() {
		c.WriteHeader(code)
		return c, func() {}
	}
	c.compressed()
	c.Header().Add("Vary", "Accept-Encoding")
	c.WriteHeader(code)
	zw := c.api.zippers.get(c)
	return zw, func() {
		zw.Close()
		if !c.failed() {
			c.api.zippers.put(zw)
		}
	}
}

// compressed changes the headers to those of a compressed answer, whose length is not known.
func (c *call) compressed() {
	h := c.Header()
	h["Content-Encoding"] = []string{"gzip"}
	h.Del("Content-Length")
}

// openAPIWriter compresses the answers of /openapi/v2 whose Content-Length is large
// enough, parts of the document too (upstream: NYTimes/gziphandler).
type openAPIWriter struct {
	*call
	zip *gzip.Writer // nil as long as nothing is compressed
}

// prefersGzip reports whether /openapi/v2 may be compressed: the client names gzip with a
// quality above 0. Where it does so again, the last one counts.
func (c *call) prefersGzip() (prefers bool) {
	for coding := range strings.SplitSeq(header(c.req, "Accept-Encoding"), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		quality, err := 1.0, error(nil)
		for p := range strings.SplitSeq(parameters, ";") {
			quality = 1
			if q, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
				quality, err = strconv.ParseFloat(q, 64)
			}
		}
		if err == nil && strings.EqualFold(strings.TrimSpace(name), "gzip") {
			prefers = quality > 0
		}
	}
	return prefers
}

// WriteHeader sends the header.
func (w *openAPIWriter) WriteHeader(code int) {
	size, _ := strconv.Atoi(w.Header().Get("Content-Length"))
	if size >= openAPIUncompressed && w.req.Method != http.MethodHead && w.prefersGzip() {
		w.compressed()
		w.zip = gzip.NewWriter(w.call)
	}
	w.call.WriteHeader(code)
}

// Write sends a part of the body.
func (w *openAPIWriter) Write(p []byte) (int, error) {
	if w.zip != nil {
		return w.zip.Write(p)
	}
	return w.call.Write(p)
}

// end ends the body.
func (w *openAPIWriter) end() {
	if w.zip != nil {
		w.zip.Close()
	}
}
