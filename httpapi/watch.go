package httpapi

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// watch answers GET with watch=true on a collection, and GET below the deprecated /watch/ paths. An
// error after the start is sent as an ERROR event.
//
// Query: labelSelector, fieldSelector, shardSelector, resourceVersion, resourceVersionMatch,
// sendInitialEvents, allowWatchBookmarks, timeoutSeconds.
func (c *call) watch() error {
	opts, err := c.watchOptions()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.req.Context())
	defer cancel()
	// The API may be closed before the store is.
	closed := make(chan struct{})
	unlessClosed := context.AfterFunc(c.api.ctx, func() {
		defer close(closed)
		// A client that does not read must not delay Close.
		http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(closeGrace))
		cancel()
	})
	defer func() {
		if !unlessClosed() {
			<-closed // nothing may use c.w after the handler
		}
	}()
	w, err := c.resource.Watch(ctx, opts)
	if err != nil {
		return err
	}
	defer w.Close()
	if now := c.api.served.Load(); now != c.served && indexOf(now.kinds, c.endpoint.Kind) < 0 {
		cancel() // the kind was removed before the watch was open
	}
	if err := c.readTableOptions(); err != nil {
		return err
	}
	if c.media.format == formatYAML {
		return notAcceptable(typeJSON+streamSuffix, typeProtobuf+streamSuffix)
	}
	if !canFlush(c.w) {
		return meta.NewInternalError(fmt.Errorf("unable to start watch - can't get http.Flusher: %T", c.w))
	}
	contentType := typeJSON
	if c.media.format == formatProtobuf {
		contentType = typeProtobuf + streamSuffix
	}
	c.setHeader("Content-Type", contentType)
	c.WriteHeader(http.StatusOK)
	out := &watchWriter{call: c, flush: http.NewResponseController(c.w).Flush, conn: c.connection(), guard: c.guard()}
	out.guard.watch = true
	if opts.Timeout > 0 {
		out.guard.end = c.api.st.Clock().Now().Add(opts.Timeout + closeGrace)
	}
	if out.flush() == nil {
		c.stream(ctx, w, out)
	}
	return nil
}

// watchWriter writes the chunks of a watch.
type watchWriter struct {
	*call
	flush func() error
	conn  net.Conn // or nil; see connection
	guard *stallGuard
}

// send sends a chunk. An error means that the client is gone.
func (w *watchWriter) send(part chunk) error {
	w.guard.start(part.all)
	defer w.guard.stop()
	if w.conn == nil {
		if _, err := w.write(part.data()); err != nil {
			return err
		}
		return w.flush()
	}
	_, err := w.conn.Write(part.all)
	w.size += int64(len(part.data()))
	if err != nil {
		w.cut.failed.Store(true)
		w.conn.Close() // the client must not take the rest of the answer for a chunk
	}
	return err
}

// minWatchTimeout is the least default timeout of a watch (upstream:
// --min-request-timeout of apiserver, endpoints/handlers/get.go).
const minWatchTimeout = 30 * time.Minute

// watchTimeout returns timeoutSeconds, or if it is absent or 0 a time between half an hour and
// an hour.
func (c *call) watchTimeout(seconds *int64) time.Duration {
	if seconds != nil && *seconds != 0 {
		const most = int64(1<<63-1) / int64(time.Second) // more would wrap around
		return time.Duration(min(max(*seconds, -most), most)) * time.Second
	}
	random := c.api.st.Random()
	return minWatchTimeout + time.Duration(binary.BigEndian.Uint64(random[:])%uint64(minWatchTimeout))
}

// closeGrace limits a write after Close, or after the time of a request.
const closeGrace = 250 * time.Millisecond

// canFlush reports whether w can flush.
func canFlush(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case http.Flusher, interface{ FlushError() error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}

// stream sends events until the watch ends or the client is gone.
func (c *call) stream(ctx context.Context, w *registry.Watcher, out *watchWriter) {
	open, count := c.countWatch()
	open.Add(1)
	defer open.Add(-1)
	for {
		events, err := w.Next(ctx)
		count.Add(int64(len(events)))
		for _, ev := range events {
			c.reportItem(ev.Item)
		}
		if out.sendEvents(events) != nil {
			return
		}
		if err != nil {
			if e, ok := errors.AsType[*meta.StatusError](err); ok {
				part, _ := endChunk(c.appendErrorFrame([]byte(chunkHead), &e.Status))
				out.send(part)
			}
			return
		}
	}
}

// sendEvents sends events. A single event, or a large one, is sent from the memory that all
// watches share. Others are joined, so that the connection gets few writes.
func (w *watchWriter) sendEvents(events []registry.ItemEvent) (err error) {
	if len(events) == 1 && w.sharesFrame(events[0]) {
		f, err := w.frame(events[0])
		if err != nil {
			return err
		}
		return w.sendFrame(f)
	}
	if len(events) == 0 {
		return nil
	}
	w.api.scratch.Use(func(joined []byte) []byte {
		joined, err = w.sendJoined(joined, events)
		return w.unread(joined)
	})
	return err
}

// sendJoined sends the frames of events. It joins them in a buffer, which it returns.
func (w *watchWriter) sendJoined(joined []byte, events []registry.ItemEvent) (_ []byte, err error) {
	joined = append(joined, chunkHead...)
	for i, ev := range events {
		var large *frame
		if !w.sharesFrame(ev) {
			joined, err = w.appendEvent(joined, ev)
		} else if large, err = w.frame(ev); err == nil && len(large.all) < watchWrite {
			joined, large = append(joined, large.data()...), nil
		}
		ready := len(joined) - len(chunkHead)
		if err == nil && ready > 0 && (ready >= watchWrite || large != nil || i == len(events)-1) {
			var part chunk
			part, joined = endChunk(joined)
			err = w.send(part)
			joined = joined[:len(chunkHead)]
		}
		if err == nil && large != nil {
			err = w.sendFrame(large)
		}
		if err != nil {
			return joined, err
		}
	}
	return joined, nil
}

// sendFrame sends a shared frame, and keeps it alive meanwhile for other watches.
func (w *watchWriter) sendFrame(f *frame) error {
	defer runtime.KeepAlive(f)
	return w.send(f.chunk)
}

// watchWrite is the size of the writes of a watch with many events, in bytes. Larger frames are not
// joined.
const watchWrite = 8 << 10

// sharesFrame reports whether other watches may send the same bytes for an event. Bookmarks and rows of
// a Table differ. Several watches hardly ever send the same small initial object at a time.
func (c *call) sharesFrame(ev registry.ItemEvent) bool {
	return ev.Type != watch.Bookmark && c.media.as.Kind != asTable && !(ev.Initial && ev.Item.Size() < watchWrite)
}

// frame returns the shared frame of an event, which must not be changed.
func (c *call) frame(ev registry.ItemEvent) (*frame, error) {
	return c.api.frames.get(frameKey{ev.Item, ev.Type, c.endpoint, c.media.format, c.media.as}, func() (frame chunk, err error) {
		c.api.scratch.Use(func(buf []byte) []byte {
			if buf, err = c.appendEvent(append(buf, chunkHead...), ev); err == nil {
				frame, buf = endChunk(buf)
				frame.all = bytes.Clone(frame.all)
			}
			return buf
		})
		return frame, err
	})
}

// appendEvent appends the frame of an event.
func (c *call) appendEvent(dst []byte, ev registry.ItemEvent) ([]byte, error) {
	if c.table != nil { // the bookmark after the initial events needs its metadata for the annotation
		c.table.keepObject = ev.Type == watch.Bookmark && ev.InitialEnd
	}
	dst, err := c.appendFrame(dst, ev.Type, func(dst []byte) ([]byte, error) { return c.appendItem(dst, ev.Item) })
	if c.table != nil {
		c.table.noColumns = true // only the first event has them
	}
	return dst, err
}

// appendFrame appends an event. object appends its object.
func (c *call) appendFrame(dst []byte, t watch.EventType, object func(dst []byte) ([]byte, error)) ([]byte, error) {
	if c.media.format == formatProtobuf {
		data, err := object(nil)
		return codec.AppendProtoWatchEvent(dst, string(t), data), err
	}
	dst = append(dst, `{"type":"`...)
	dst = append(dst, t...)
	dst, err := object(append(dst, `","object":`...))
	return append(dst, '}', '\n'), err
}

// appendErrorFrame appends an ERROR event.
func (c *call) appendErrorFrame(dst []byte, s *meta.Status) []byte {
	dst, _ = c.appendFrame(dst, watch.Error, func(dst []byte) ([]byte, error) {
		return appendStatus(dst, s, c.media.format), nil
	})
	return dst
}

// ErrorEvent returns the ERROR event of a watch with the Status of an error, encoded as the request
// accepts, for Middleware that ends a watch.
func (a *API) ErrorEvent(r *http.Request, err error) []byte {
	c := &call{api: a, req: r}
	c.media, _ = negotiate(r.Header.Get("Accept"), objectForms)
	return c.appendErrorFrame(nil, meta.StatusOf(err))
}
