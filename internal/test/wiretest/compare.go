package wiretest

import (
	"fmt"
	"slices"
)

// compareStep returns the first difference between two outcomes of a step, nil if there is none.
func compareStep(s Step, want, got Expected) *Difference {
	if want.Status != got.Status {
		return &Difference{Where: "status", Want: want.Status, Got: describeStatus(got)}
	}
	for _, name := range comparedHeaders() {
		if !slices.Equal(want.Headers[name], got.Headers[name]) {
			return &Difference{Where: "header " + name, Want: want.Headers[name], Got: got.Headers[name]}
		}
	}
	if want.Closed != got.Closed {
		return &Difference{Where: "stream closed by the server", Want: want.Closed, Got: got.Closed}
	}
	if s.Collect != nil {
		return compareEvents(s.Compare, want.Events, got.Events)
	}
	return compareBody(s.Compare, want, got)
}

// describeStatus adds to a code what the server said with it.
func describeStatus(e Expected) any {
	if message, ok := pointer(e.JSON, "/message"); ok {
		return fmt.Sprintf("%d (%v)", e.Status, message)
	}
	if e.Text != "" {
		return fmt.Sprintf("%d (%s)", e.Status, e.Text)
	}
	return e.Status
}

func compareEvents(c Compare, want, got []any) *Difference {
	for i := range max(len(want), len(got)) {
		where := fmt.Sprintf("event %d", i)
		switch {
		case i >= len(got):
			return &Difference{Where: where, Want: want[i], Got: "none"}
		case i >= len(want):
			return &Difference{Where: where, Want: "none", Got: got[i]}
		}
		if d := (comparison{c, where}).value("", want[i], got[i]); d != nil {
			return d
		}
	}
	return nil
}

func compareBody(c Compare, want, got Expected) *Difference {
	switch {
	case c.Body == "none":
		return nil
	case want.Protobuf != got.Protobuf:
		return &Difference{Where: "body is protobuf", Want: want.Protobuf, Got: got.Protobuf}
	case want.Text != got.Text:
		return &Difference{Where: "text", Want: want.Text, Got: got.Text}
	case want.Indented != got.Indented && c.Body == "":
		return &Difference{Where: "body is indented", Want: want.Indented, Got: got.Indented}
	}
	return comparison{c, "body"}.value("", want.JSON, got.JSON)
}
