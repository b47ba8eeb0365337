package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/derive"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// watch answers GET with watch=true on a collection, and GET below the
// deprecated /watch/ paths.
//
// Query: labelSelector, fieldSelector, shardSelector, resourceVersion,
// resourceVersionMatch, sendInitialEvents, allowWatchBookmarks, timeoutSeconds.
// limit and pretty have no effect. An error after the start is sent as an ERROR event.
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
	w, err := c.resource().Watch(ctx, opts)
	if err != nil {
		return err
	}
	defer w.Close()
	// The time does not cut the wait for a version, of which the watch has to tell.
	if opts.Timeout > 0 {
		c.cut.timer = c.api.st.Clock().AfterFunc(opts.Timeout+closeGrace, c.cutNow)
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
	c.Header()["Content-Type"] = []string{contentType}
	c.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(c.w).Flush
	if err := flush(); err != nil {
		return nil
	}
	c.stream(ctx, w, c.sender(w, flush))
	return nil
}

// sender returns a function that sends a part of a watch. last marks the last one of the
// parts that are ready at once.
func (c *call) sender(w *registry.Watcher, flush func() error) func(part chunk, last bool) error {
	send, guard := c.chunkWriter(flush), c.guard(w)
	return func(part chunk, last bool) error {
		guard.begin(part.all)
		defer guard.end()
		return send(part, last)
	}
}

// chunkWriter returns the function of sender, without a limit of time.
func (c *call) chunkWriter(flush func() error) func(part chunk, last bool) error {
	conn := c.connection()
	if conn == nil {
		return func(part chunk, last bool) error {
			if _, err := c.write(part.data()); err != nil || !last {
				return err
			}
			return flush()
		}
	}
	return func(part chunk, last bool) error {
		_, err := conn.Write(part.all)
		c.size += int64(len(part.data()))
		if err != nil {
			c.setFailed()
			conn.Close() // the client must not take the rest of the answer for a chunk
		}
		return err
	}
}

// minWatchTimeout is the least default timeout of a watch (upstream:
// --min-request-timeout of apiserver, endpoints/handlers/get.go).
const minWatchTimeout = 30 * time.Minute

// watchTimeout returns the timeout of a watch: timeoutSeconds, or if it is absent or 0
// a random time between half an hour and an hour. If the store has a seed, the time is
// derived from the options.
func (c *call) watchTimeout(seconds *int64, o registry.WatchOptions) time.Duration {
	if seconds != nil && *seconds != 0 {
		const most = int64(1<<63-1) / int64(time.Second) // more would wrap around
		return time.Duration(min(max(*seconds, -most), most)) * time.Second
	}
	seed := c.api.st.Seed()
	if seed == 0 {
		return minWatchTimeout + rand.N(minWatchTimeout)
	}
	info := c.endpoint.info
	sum := derive.From(seed, info.Group, info.Plural, "watch", o.Namespace, o.Name,
		o.LabelSelector, o.FieldSelector, o.ShardSelector, o.ResourceVersion)
	return minWatchTimeout + time.Duration(sum.Uint64()%uint64(minWatchTimeout))
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

// stream sends events until the watch ends or the client is gone. It writes all events
// that are ready at once.
func (c *call) stream(ctx context.Context, w *registry.Watcher, send func(part chunk, last bool) error) {
	count := c.countWatch()
	count.open.Add(1)
	defer count.open.Add(-1)
	for {
		events, err := w.Next(ctx)
		count.events.Add(int64(len(events)))
		for _, ev := range events {
			c.reportItem(ev.Item)
		}
		if c.sendEvents(events, send) != nil {
			return
		}
		if err != nil {
			if e, ok := errors.AsType[*meta.StatusError](err); ok {
				part, _ := endChunk(c.appendErrorFrame([]byte(chunkHead), &e.Status))
				send(part, true) // an error means that the client is gone
			}
			return
		}
	}
}

// sendEvents sends events. A single event, or a large one, is sent from the memory that all
// watches share. Others are joined, so that the connection gets few writes.
func (c *call) sendEvents(events []registry.ItemEvent, send func(part chunk, last bool) error) (err error) {
	if len(events) == 1 && c.sharesFrame(events[0]) {
		f, err := c.frame(events[0])
		if err != nil {
			return err
		}
		return sendFrame(f, true, send)
	}
	if len(events) == 0 {
		return nil
	}
	c.api.frames.joined.Use(func(joined []byte) []byte {
		joined, err = c.sendJoined(joined, events, send)
		return c.unread(joined)
	})
	return err
}

// sendJoined sends the frames of events. It joins them in a buffer, which it returns.
func (c *call) sendJoined(joined []byte, events []registry.ItemEvent, send func(part chunk, last bool) error) (_ []byte, err error) {
	joined = append(joined, chunkHead...)
	for i, ev := range events {
		var f *frame // that is sent by itself, or nil
		if !c.sharesFrame(ev) {
			joined, err = c.appendEvent(joined, ev)
		} else if f, err = c.frame(ev); err == nil && len(f.all) < watchWrite {
			joined, f = append(joined, f.data()...), nil
		}
		if err != nil {
			return joined, err
		}
		last, ready := i == len(events)-1, len(joined)-len(chunkHead)
		if ready >= watchWrite || ready > 0 && (last || f != nil) {
			var part chunk
			part, joined = endChunk(joined)
			if err := send(part, last && f == nil); err != nil {
				return joined, err
			}
			joined = joined[:len(chunkHead)]
		}
		if f != nil {
			if err := sendFrame(f, last, send); err != nil {
				return joined, err
			}
		}
	}
	return joined, nil
}

// sendFrame sends a shared frame, and keeps it alive meanwhile, so that other watches find it.
func sendFrame(f *frame, last bool, send func(part chunk, last bool) error) error {
	defer runtime.KeepAlive(f)
	return send(f.chunk, last)
}

// watchWrite is the size of the writes of a watch, in bytes, if many events are ready. Larger frames
// are not joined.
const watchWrite = 8 << 10

// sharesFrame reports whether other watches may send the same bytes for an event: a bookmark is of
// one watch, and a row depends on the time. Small objects of a state are hardly ever sent by
// several watches at a time.
func (c *call) sharesFrame(ev registry.ItemEvent) bool {
	return ev.Type != watch.Bookmark && c.media.as.Kind != asTable && !(ev.Initial && ev.Item.Size() < watchWrite)
}

// frame returns the shared frame of an event, which must not be changed.
func (c *call) frame(ev registry.ItemEvent) (*frame, error) {
	return c.api.frames.get(frameKey{ev.Item, ev.Type, c.endpoint, c.media.format, c.media.as}, func() (frame chunk, err error) {
		c.api.frames.buffers.Use(func(buf []byte) []byte {
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
	// The bookmark after the initial events needs its metadata for the annotation.
	c.table.keepObject = ev.Type == watch.Bookmark && ev.InitialEnd
	dst, err := c.appendFrame(dst, ev.Type, func(dst []byte) ([]byte, error) { return c.appendItem(dst, ev.Item) })
	c.table.noColumns = true // only the first event has them
	return dst, err
}

// appendFrame appends an event, whose object is what object appends.
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

// ErrorEvent returns the ERROR event of a watch with the Status of an error, encoded as
// the request accepts. It is for Middleware that ends a watch.
func (a *API) ErrorEvent(r *http.Request, err error) []byte {
	c := &call{api: a, req: r}
	c.media, _ = negotiate(r.Header.Get("Accept"), objectForms)
	return c.appendErrorFrame(nil, meta.StatusOf(err))
}
