package wiretest

import (
	"encoding/json"
	"slices"
)

// Golden is a scenario with its recorded outcome.
type Golden struct {
	Scenario Scenario
	Expect   []Expected // one for each step
	// VersionOrder lists the symbols of the resource versions from oldest to newest.
	VersionOrder []string
}

// Expected is the normalised outcome of one step.
type Expected struct {
	Status   int
	Headers  map[string][]string // only compared headers
	JSON     any
	Text     string // the body, if it is not JSON or is compared as text
	Indented bool   // JSON came on several lines
	Protobuf bool   // JSON was decoded from protobuf
	Events   []any
	Closed   bool // the server ended the stream
}

// Scenario is a list of steps that run one after the other, in their own namespaces.
type Scenario struct {
	Name  string   `json:"name"`
	About string   `json:"about,omitempty"`
	Tags  []string `json:"tags,omitempty"` // such as slow, expired, shard, unordered
	Steps []Step   `json:"steps"`
}

// Step is exactly one of: a request, the opening of a stream (a request with Open set), the collection of events from an
// open stream, or the closing of one.
//
// Strings that are sent may hold {{name}}: ns and ns2 are the namespaces of this run, everything else comes from Capture.
type Step struct {
	Method  string            `json:"method,omitempty"`
	Path    string            `json:"path,omitempty"`
	Query   map[string]string `json:"query,omitempty"`   // encoded before it is sent
	Headers map[string]string `json:"headers,omitempty"` // beside the default ones; the value "-" removes one

	// RawQuery is sent as written, instead of Query.
	RawQuery string `json:"rawQuery,omitempty"`

	// At most one of the bodies.
	Body         json.RawMessage `json:"body,omitempty"`         // JSON, sent without its spaces
	BodyText     string          `json:"bodyText,omitempty"`     // any text
	BodyProtobuf json.RawMessage `json:"bodyProtobuf,omitempty"` // JSON, sent in the Kubernetes protobuf form
	BodyRepeat   *Repeat         `json:"bodyRepeat,omitempty"`   // a body too large to write down

	// Capture names values of the answer by JSON pointer, for the placeholders of later steps. It is an error if there is no value,
	// except for a name with a question mark at its end.
	Capture map[string]string `json:"capture,omitempty"`

	Open    string   `json:"open,omitempty"` // keeps the answer as a stream of this name
	Collect *Collect `json:"collect,omitempty"`
	Close   string   `json:"close,omitempty"` // the stream to close

	Compare Compare `json:"compare,omitzero"`
}

// Repeat is a body made of a prefix, a unit repeated, and a suffix.
type Repeat struct {
	Prefix string `json:"prefix,omitempty"`
	Unit   string `json:"unit"`
	Count  int    `json:"count"`
	Suffix string `json:"suffix,omitempty"`
}

// Collect takes events from an open stream: until Events have arrived, and then for a quiet time in which no more may come;
// or until the server closes the stream. With neither it takes the events that arrive in the quiet time.
type Collect struct {
	Stream      string            `json:"stream"`
	Events      int               `json:"events"`
	TimeoutMs   int               `json:"timeoutMs,omitempty"`   // longest wait in milliseconds; zero means a minute
	UntilClosed bool              `json:"untilClosed,omitempty"` // wait for the end of the stream
	SortByName  bool              `json:"sortByName,omitempty"`  // the order is not part of the protocol here
	Capture     map[string]string `json:"capture,omitempty"`     // pointers into the list of events
}

// Compare is how strictly an answer is compared.
type Compare struct {
	// Body is "" (structural equality), "subset" (all of the expected must be there, the rest is ignored), "shape" (same keys and
	// kinds of values), "text" (the text, character by character) or "none".
	Body string `json:"body,omitempty"`
	// Ignore lists JSON pointers that are left out. A "*" stands for any index or key.
	Ignore []string `json:"ignore,omitempty"`
}

// exchanges reports whether the step talks to the server.
func (s Step) exchanges() bool { return s.Close == "" }

// label names the step in reports.
func (s Step) label() string {
	switch {
	case s.Collect != nil:
		return "collect " + s.Collect.Stream
	case s.Close != "":
		return "close " + s.Close
	}
	return s.Method + " " + s.Path
}

// sentTree returns the JSON that the step sends, or nil.
func (s Step) sentTree() any {
	tree, err := decodeJSON(slices.Concat(s.Body, s.BodyProtobuf, []byte(s.BodyText)))
	if err != nil {
		return nil
	}
	return tree
}
