package memory

// The media types of fixtures.
const (
	typeYAML  = "application/yaml"
	typeJSON  = "application/json"
	typeTxtar = "application/x-txtar"
)

// The answers below /debug/, as far as tests look at them.

type operation struct{ Method, Path, What string }

type faultView struct{ ID int }

type forkView struct{ Name, URL, ResourceVersion string }

type requestView struct {
	Text, Body, UserAgent string
	Query                 map[string][]string
	BodyBase64            []byte
	Done                  bool
	Faults                []int
}
