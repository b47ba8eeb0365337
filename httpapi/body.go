package httpapi

import (
	"bytes"
	"io"
	"net/http"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// buffers is the memory for the body of a request and for its answer. Later requests use it
// again, so nothing may keep a part of it after the answer.
type buffers struct {
	body, answer []byte
	options      kinds.WriteOptions // of a write
	request      registry.Request   // of a write
	guard        registry.Guard     // of the request
	sent         registry.Sent      // of a PUT
	patch        registry.Patch
	deletion     kinds.DeleteOptions
	status       meta.Status // the answer of a deletion
	details      meta.StatusDetails
}

// maxKept is the size up to which buffers are kept for later requests.
const maxKept = 64 << 10

// buffers returns the memory of the call.
func (c *call) buffers() *buffers {
	if c.memory == nil {
		c.memory, _ = c.api.buffers.Get().(*buffers)
		if c.memory == nil {
			c.memory = new(buffers)
		}
	}
	return c.memory
}

// release ends the use of the memory of the call.
func (c *call) release() {
	m := c.memory
	if m == nil || c.hasFailed() {
		return
	}
	c.memory = nil
	if cap(m.body) > maxKept {
		m.body = nil
	}
	if cap(m.answer) > maxKept {
		m.answer = nil
	}
	if c.req.Method != http.MethodGet { // which uses no more
		*m = buffers{body: m.body, answer: m.answer} // the rest has parts of the request
	}
	c.api.buffers.Put(m)
}

const (
	// maxBody is the size limit of request bodies, in bytes.
	maxBody = 3 << 20
	// firstRead is the most memory that a body gets before any of it has arrived.
	firstRead = 16 << 10
)

// readBody reads the body of the request into the memory of the call, up to the limit. The memory
// grows with the bytes that arrive.
func (c *call) readBody() ([]byte, error) {
	if c.req.Body == nil || c.req.Body == http.NoBody {
		return nil, nil
	}
	m, size := c.buffers(), int64(maxBody+1)
	promised := c.req.ContentLength >= 0 && c.req.ContentLength <= maxBody
	if promised {
		size = c.req.ContentLength
	}
	err := c.withoutSlot(func() (err error) {
		m.body, err = c.readUpTo(m.body[:0], int(size))
		return err
	})
	if err == io.EOF {
		switch {
		case !promised:
			err = nil
		case len(m.body) > 0:
			err = io.ErrUnexpectedEOF
		}
	}
	if err != nil {
		return nil, err // not a Status
	}
	if len(m.body) > maxBody {
		return nil, meta.NewStatusError(http.StatusRequestEntityTooLarge, meta.ReasonRequestEntityTooLarge, nil,
			"Request entity too large: limit is 3145728")
	}
	return m.body, nil
}

// maxPart is the size of the parts in which a large body arrives, in bytes.
const maxPart = 256 << 10

// readUpTo returns size bytes of the body, in dst if they fit. It returns io.EOF if the body has fewer. A large body arrives in
// parts, which are joined at its end: to grow one slice would leave twice the bytes of a body that stops as garbage.
func (c *call) readUpTo(dst []byte, size int) (_ []byte, err error) {
	var guard *stallGuard
	if size > firstRead {
		guard = c.guard()
		guard.start(dst)
		defer guard.stop()
	}
	var full [][]byte
	for n := 0; n < size && err == nil; {
		if len(dst) == cap(dst) {
			if n > 0 {
				full = append(full, dst)
			}
			dst = make([]byte, 0, min(size-n, max(n, firstRead), maxPart))
			if guard != nil {
				guard.hold(dst, n)
			}
		}
		var read int
		read, err = c.req.Body.Read(dst[len(dst):min(cap(dst), len(dst)+size-n)])
		dst, n = dst[:len(dst)+read], n+read
		if n == size {
			err = nil
		}
	}
	if full != nil && (err == nil || err == io.EOF) {
		dst = bytes.Join(append(full, dst), nil)
	}
	return dst, err
}
