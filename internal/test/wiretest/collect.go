package wiretest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	defaultCollectTimeout = time.Minute
	defaultQuiet          = 150 * time.Millisecond
)

// collect takes events from a stream and returns them normalised.
func (x *run) collect(ctx context.Context, c Collect) (Expected, error) {
	st := x.streams[c.Stream]
	if st == nil {
		return Expected{}, fmt.Errorf("no open stream %q", c.Stream)
	}
	events, err := st.take(ctx, c)
	if err != nil {
		return Expected{}, err
	}
	if c.SortByName {
		slices.SortStableFunc(events, func(a, b any) int { return strings.Compare(eventName(a), eventName(b)) })
	}
	if err := x.capture(c.Capture, events); err != nil {
		return Expected{}, err
	}
	e := Expected{Closed: st.ended}
	for _, event := range events {
		e.Events = append(e.Events, x.norm.value(event))
	}
	return e, nil
}

// take waits for the events that c asks for. Fewer events are no error here, but a difference in the comparison.
func (s *stream) take(ctx context.Context, c Collect) ([]any, error) {
	total, quiet := c.waits()
	timer := time.NewTimer(total)
	defer timer.Stop()
	var events []any
	for satisfied := false; !s.ended; {
		if !satisfied && !c.UntilClosed && c.Events > 0 && len(events) >= c.Events {
			satisfied = true
			timer.Reset(quiet)
		}
		select {
		case event, ok := <-s.events:
			switch {
			case !ok:
				s.ended = true
			case !periodicBookmark(event):
				events = append(events, event)
			}
		case <-timer.C:
			return events, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return events, nil
}

// waits returns how long to wait for the events, and then for one too many.
func (c Collect) waits() (total, quiet time.Duration) {
	total = cmp.Or(max(0, time.Duration(c.TimeoutMs)*time.Millisecond), defaultCollectTimeout)
	quiet = defaultQuiet
	if c.Events == 0 && !c.UntilClosed && c.TimeoutMs == 0 {
		total = quiet
	}
	return total, quiet
}

// periodicBookmark reports whether an event is a bookmark other than the bookmark that ends the initial events of a watch-list.
func periodicBookmark(event any) bool {
	if t, _ := pointer(event, "/type"); t != "BOOKMARK" {
		return false
	}
	// The annotation is on the object or, in a table, on the object of the only row.
	text, _ := json.Marshal(event)
	return !strings.Contains(string(text), `"k8s.io/initial-events-end"`)
}

func eventName(event any) string {
	namespace, _ := pointer(event, "/object/metadata/namespace")
	name, _ := pointer(event, "/object/metadata/name")
	return fmt.Sprint(namespace, "/", name)
}
