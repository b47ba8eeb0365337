package apitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// State returns the objects of the store in a form that is equal for two runs which did the same: a text of JSON by
// resource, namespace and name, such as "leases.coordination.k8s.io default/a". In the texts and names
//
//   - a uid is "<uid of RESOURCE NAMESPACE/NAME>", or "<uid of no object>". The uid of the object itself is left out;
//   - a name that the server made from generateName is its prefix with a number, such as "web-<1>". Objects are numbered in the order of
//     their texts;
//   - a time is "<time>", a resourceVersion "<version>", and managedFields are left out.
//
// Faults do not act on it.
func (a *API) State() map[string]string {
	s := state{uids: map[string]*stateObject{}, uid: regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)}
	seen := map[*registry.Resource]bool{} // kinds of two groups may share one, as Events do
	for _, kind := range a.api.Kinds() {
		in, err := a.st.Find(kinds.Of(kind))
		if err != nil || seen[in] {
			continue
		}
		seen[in] = true
		resource := strings.TrimSuffix(kind.Info().Plural+"."+kind.Info().Group, ".")
		for it := range in.Present("") {
			s.add(resource, it)
		}
	}
	s.number()
	s.write()
	out := map[string]string{}
	for _, o := range s.objects {
		out[s.path(o)] = o.text
	}
	return out
}

// state is a state whose names and uids are being replaced.
type state struct {
	objects []*stateObject
	uids    map[string]*stateObject // by uid
	uid     *regexp.Regexp
	names   *strings.Replacer // of generated names
	all     *strings.Replacer // of generated names and uids
}

type stateObject struct {
	resource, namespace, name string
	prefix, number            string // of a generated name: "web-" and "<1>"
	content                   map[string]any
	text                      string // see write
}

// add adds an object. Its generated name is "prefix<?>" until it has a number.
func (s *state) add(resource string, it *registry.Item) {
	o := &stateObject{resource: resource, namespace: it.Namespace(), name: it.Name()}
	data, err := it.Encoded(0, kinds.JSON)
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if err != nil || in.Decode(&o.content) != nil {
		return
	}
	if m, ok := o.content["metadata"].(map[string]any); ok {
		delete(m, "uid")
		delete(m, "managedFields")
		generate, _ := m["generateName"].(string)
		if prefix, ok := registry.Generated(o.name, generate); ok {
			o.prefix, o.number = prefix, "<?>"
		}
	}
	s.uids[string(it.UID())] = o
	s.objects = append(s.objects, o)
}

func (s *state) number() {
	s.write()
	slices.SortStableFunc(s.objects, func(a, b *stateObject) int {
		return cmp.Or(cmp.Compare(a.resource, b.resource), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.text, b.text))
	})
	last := map[string]int{}
	for _, o := range s.objects {
		if o.prefix != "" {
			group := o.resource + " " + o.namespace + "/" + o.prefix
			last[group]++
			o.number = fmt.Sprintf("<%d>", last[group])
		}
	}
}

func (s *state) path(o *stateObject) string {
	return o.resource + " " + objectPath(o.namespace, s.names.Replace(o.name))
}

// rename makes the replacers for the present numbers.
func (s *state) rename() {
	// Longer names come first: one may begin with another. The second round replaces a generated name in a prefix.
	byLength := slices.SortedStableFunc(slices.Values(s.objects), func(a, b *stateObject) int { return cmp.Compare(len(b.name), len(a.name)) })
	s.names = strings.NewReplacer()
	var pairs []string
	for range 2 {
		pairs = nil
		for _, o := range byLength {
			if o.prefix != "" {
				pairs = append(pairs, o.name, s.names.Replace(o.prefix)+o.number)
			}
		}
		s.names = strings.NewReplacer(pairs...)
	}
	for uid, o := range s.uids {
		pairs = append(pairs, uid, "<uid of "+s.path(o)+">")
	}
	s.all = strings.NewReplacer(pairs...)
}

// write writes the texts of the objects by the present names.
func (s *state) write() {
	s.rename()
	for _, o := range s.objects {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		enc.Encode(s.masked("", o.content)) // only what JSON has
		o.text = b.String()
	}
}

func (s *state) masked(member string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			out[s.all.Replace(name)] = s.masked(name, inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = s.masked("", inner)
		}
		return out
	case string:
		if member == "resourceVersion" {
			return "<version>"
		}
		if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return "<time>"
		}
		return s.uid.ReplaceAllString(s.all.Replace(v), "<uid of no object>")
	}
	return value
}
