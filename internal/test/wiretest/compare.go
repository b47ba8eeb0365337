package wiretest

import (
	"fmt"
	"slices"
)

// compareStep returns the differences between two outcomes of a step. If the status differs, it is the only difference.
func compareStep(s Step, want, got Expected) []Difference {
	if want.Status != got.Status {
		return []Difference{{Where: "status", Want: want.Status, Got: describeStatus(got)}}
	}
	var found []Difference
	for _, name := range comparedHeaders() {
		if !slices.Equal(want.Headers[name], got.Headers[name]) {
			found = append(found, Difference{Where: "header " + name, Want: want.Headers[name], Got: got.Headers[name]})
		}
	}
	if want.Closed != got.Closed {
		found = append(found, Difference{Where: "stream closed by the server", Want: want.Closed, Got: got.Closed})
	}
	if s.Collect != nil {
		return append(found, compareEvents(s.Compare, want.Events, got.Events)...)
	}
	return append(found, compareBody(s.Compare, want, got)...)
}

// describeStatus returns a status code with the message of the server.
func describeStatus(e Expected) any {
	if message, ok := pointer(e.JSON, "/message"); ok {
		return fmt.Sprintf("%d (%v)", e.Status, message)
	}
	if e.Text != "" {
		return fmt.Sprintf("%d (%s)", e.Status, e.Text)
	}
	return e.Status
}

func compareEvents(c Compare, want, got []any) []Difference {
	var found []Difference
	for i := range max(len(want), len(got)) {
		where := fmt.Sprintf("event %d", i)
		switch {
		case i >= len(got):
			found = append(found, Difference{Where: where, Want: want[i], Got: "none"})
		case i >= len(want):
			found = append(found, Difference{Where: where, Want: "none", Got: got[i]})
		default:
			found = append(found, compareTrees(c, where, want[i], got[i])...)
		}
	}
	return found
}

func compareBody(c Compare, want, got Expected) []Difference {
	switch {
	case c.Body == "none":
		return nil
	case want.Protobuf != got.Protobuf:
		return []Difference{{Where: "body is protobuf", Want: want.Protobuf, Got: got.Protobuf}}
	case want.Text != got.Text:
		return []Difference{{Where: "text", Want: want.Text, Got: got.Text}}
	}
	var found []Difference
	if want.Indented != got.Indented && c.Body == "" {
		found = append(found, Difference{Where: "body is indented", Want: want.Indented, Got: got.Indented})
	}
	return append(found, compareTrees(c, "body", want.JSON, got.JSON)...)
}

// compareTrees returns the differences between two trees. The label names them in reports.
func compareTrees(mode Compare, label string, want, got any) []Difference {
	c := comparison{Compare: mode, label: label}
	c.value("", want, got)
	return c.found
}
