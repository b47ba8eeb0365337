package explore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// key names an object: its resource, and its namespace and name.
type key struct{ resource, object string }

func (k key) String() string { return k.resource + " " + k.object }

// tracked is an object that a run has changed.
type tracked struct {
	before *registry.Item // before the first change of the run, or nil
	now    *registry.Item // or nil if it is gone
}

// rest is what a run is compared by: the objects at a moment at which nothing changes any more, and what happened since the rest before.
type rest struct {
	step    int
	extra   string // "" for the rest of the step itself; else what happened after it, such as a restart
	objects map[key]tracked
	made    map[key]int // how often each object was created since the rest before
	gone    map[key]int // and deleted
	changes []string    // what was written, for a restart after which nothing should be
}

// names turns what differs from run to run into what does not.
type names struct {
	uids      map[string]key    // all that the run has seen
	live      map[string]bool   // uids of objects that exist
	generated map[string]string // names that the server made, and what stands for them
	clients   []string          // names of the starts of controllers
	versions  map[string]bool
	loose     *loose
}

// loose are the names which clients make themselves, by the part before the last "-". The undisturbed runs do not agree on them.
type loose struct {
	prefixes map[key]bool // the object of a key is the namespace with the prefix
	fixed    map[key]bool // objects that all undisturbed runs have
}

// prefix returns what stands for the name of an object, if it is loose.
func (l *loose) prefix(k key) (string, bool) {
	i := strings.LastIndexByte(k.object, '-')
	if l == nil || i < 0 || l.fixed[k] || !l.prefixes[key{k.resource, k.object[:i]}] {
		return "", false
	}
	return k.object[:i] + "-*", true
}

// object returns the name of an object in all runs.
func (n *names) object(k key) string {
	if p, ok := n.loose.prefix(k); ok {
		return p
	}
	namespace, name := "", k.object
	if i := strings.IndexByte(name, '/'); i >= 0 {
		namespace, name = name[:i+1], name[i+1:]
	}
	if g, ok := n.generated[name]; ok {
		name = g
	}
	return namespace + name
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// text returns a string of an object as it is in all runs.
func (n *names) text(s string) string {
	if len(s) >= len("2006-01-02T15:04:05Z") && s[4] == '-' {
		if _, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return "<time>"
		}
	}
	if len(s) >= 36 && strings.Count(s, "-") >= 4 {
		s = uuids.ReplaceAllStringFunc(s, func(uid string) string {
			k, known := n.uids[uid]
			switch {
			case !known:
				return "<uid>"
			case n.live[uid]:
				return "<uid of " + k.resource + " " + n.object(k) + ">"
			}
			return "<uid of " + k.resource + " " + n.object(k) + ", which is gone>"
		})
	}
	if n.versions[s] {
		return "<version>"
	}
	for _, c := range n.clients {
		if s == c || strings.HasPrefix(s, c+"_") {
			return "<client>"
		}
	}
	for name, stands := range n.generated {
		if strings.Contains(s, name) {
			s = strings.ReplaceAll(s, name, stands)
		}
	}
	return s
}

// touched is the annotation of the client that interferes.
const touched = "explore/touched"

// tree returns an object as it is in all runs. It is nil if the object cannot be encoded.
func (n *names) tree(it *registry.Item) map[string]any {
	data, err := it.AppendJSON(nil, 0)
	if err != nil {
		return nil
	}
	var o map[string]any
	if json.Unmarshal(data, &o) != nil {
		return nil
	}
	m, _ := o["metadata"].(map[string]any)
	generation := m["generation"]
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "generation", "managedFields", "creationTimestamp"} {
		delete(m, name)
	}
	if a, ok := m["annotations"].(map[string]any); ok {
		delete(a, touched)
		if len(a) == 0 {
			delete(m, "annotations")
		}
	}
	if status, ok := o["status"].(map[string]any); ok {
		if seen, ok := status["observedGeneration"]; ok {
			status["observedGeneration"] = map[bool]string{true: "<current>", false: "<behind>"}[seen == generation]
		}
	}
	if k := it.GroupResource(); k.Resource == "leases" && k.Group == "coordination.k8s.io" {
		if spec, ok := o["spec"].(map[string]any); ok {
			delete(spec, "leaseTransitions") // each restart takes the Lease again
		}
	}
	return n.walk(o).(map[string]any)
}

// walk changes the strings of a value, and the order of lists that have none.
func (n *names) walk(v any) any {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case map[string]any:
		for name, member := range v {
			v[name] = n.walk(member)
		}
	case []any:
		for i := range v {
			v[i] = n.walk(v[i])
		}
		slices.SortStableFunc(v, func(a, b any) int { return cmp.Compare(orderOf(a), orderOf(b)) })
	}
	return v
}

// orderOf returns what an element of a list is sorted by: conditions by their type, owners by their uid. Other lists keep their order.
func orderOf(v any) string {
	if m, ok := v.(map[string]any); ok {
		for _, name := range []string{"type", "uid"} {
			if s, ok := m[name].(string); ok {
				return s
			}
		}
	}
	return ""
}

// state is what a run has at a rest, by the names that all runs have.
type state map[key][]map[string]any

// stateAt returns the objects of a rest, and the objects that only another run has changed, as they were prepared.
func (n *names) stateAt(r *rest, other *rest) state {
	then := n.at(r)
	out := state{}
	for k, t := range r.objects {
		then.add(out, k, t.now)
	}
	then.addPrepared(out, r, other)
	return out
}

// at returns the names with the uids that exist at a rest.
func (n *names) at(r *rest) *names {
	then := *n
	then.live = maps.Clone(n.live)
	for _, t := range r.objects {
		if t.before != nil {
			then.live[string(t.before.UID())] = false
		}
		if t.now != nil {
			then.live[string(t.now.UID())] = true
		}
	}
	return &then
}

// add adds an object to a state, if there is one.
func (n *names) add(s state, k key, it *registry.Item) {
	if it == nil {
		return
	}
	k = key{k.resource, n.object(k)}
	s[k] = append(s[k], n.tree(it))
	if list := s[k]; len(list) > 1 {
		slices.SortFunc(list, func(a, b map[string]any) int { return strings.Compare(show(a), show(b)) })
	}
}

// addPrepared adds the objects that only another run has changed.
func (n *names) addPrepared(s state, r, other *rest) {
	for k, t := range other.objects {
		if _, ok := r.objects[k]; !ok {
			n.add(s, k, t.before)
		}
	}
}

// counts returns numbers by the names that all runs have.
func (n *names) counts(m map[key]int) map[key]int {
	out := map[key]int{}
	for k, c := range m {
		out[key{k.resource, n.object(k)}] += c
	}
	return out
}

// The paths of differences in the objects themselves.
const (
	missing = "missing"
	extra   = "too much"
	number  = "number"
)

// difference is one thing in which two states differ.
type difference struct {
	key  key
	path string // of a member, with a "." first
	text string
}

// compare returns how got differs from want, in the order of the keys, without what is masked.
func compare(want, got state, masked func(k key, path string) bool) (out []difference) {
	for _, k := range allKeys(want, got) {
		if masked(k, "") {
			continue
		}
		a, b := want[k], got[k]
		switch {
		case len(a) == len(b):
			for i := range a {
				leaves(k, "", a[i], b[i], masked, &out)
			}
		case len(b) == 0:
			out = append(out, difference{k, missing, k.String() + " is missing"})
		case len(a) == 0:
			out = append(out, difference{k, extra, k.String() + " exists, in the undisturbed run it does not"})
		default:
			out = append(out, difference{k, number, fmt.Sprintf("there are %d %s, in the undisturbed run %d", len(b), k, len(a))})
		}
	}
	return out
}

// allKeys returns the keys of two maps in their order.
func allKeys[V any](a, b map[key]V) []key {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}

func compareKeys(a, b key) int {
	return cmp.Or(strings.Compare(a.resource, b.resource), strings.Compare(a.object, b.object))
}

// leaves adds the members in which two values differ.
func leaves(k key, path string, a, b any, masked func(key, string) bool, out *[]difference) {
	if path != "" && masked(k, path) {
		return
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			all := maps.Clone(a)
			maps.Copy(all, b)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				leaves(k, path+"."+name, a[name], b[name], masked, out)
			}
			return
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				leaves(k, path+"[]", a[i], b[i], masked, out)
			}
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		*out = append(*out, difference{k, path, fmt.Sprintf("%s: %s is %s, in the undisturbed run %s", k, path, show(b), show(a))})
	}
}

// show returns a value as JSON, and none for an absent one.
func show(v any) string {
	if v == nil {
		return "absent"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(data))
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}

// mask is one entry of Scenario.Mask.
type mask struct {
	resource string
	object   *regexp.Regexp // nil is any
	path     string
}

func parseMask(s string) (m mask, err error) {
	words := strings.Fields(s)
	if n := len(words); n > 1 && strings.HasPrefix(words[n-1], ".") {
		m.path, words = words[n-1], words[:n-1]
	}
	switch len(words) {
	case 2:
		m.object = regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(words[1]), `\*`, ".*") + "$")
		fallthrough
	case 1:
		if m.resource = words[0]; !strings.HasPrefix(m.resource, ".") {
			return m, nil
		}
	}
	return m, fmt.Errorf("got %q, want a resource, a name and a path, such as \"widgets default/* .status.lastSeen\"", s)
}

// covers reports whether the mask is for a path of an object, or for a member above it.
func (m mask) covers(k key, path string) bool {
	return (m.resource == "*" || m.resource == k.resource) && (m.object == nil || m.object.MatchString(k.object)) &&
		(m.path == "" || path == m.path || strings.HasPrefix(path, m.path+".") || strings.HasPrefix(path, m.path+"["))
}
