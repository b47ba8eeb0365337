package explore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
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
	made    map[key]int             // how often each object was created since the rest before
	gone    map[key]int             // and deleted
	changes []writing               // what was written, for a restart after which nothing should be
	stopped map[key]bool            // what the processes wrote at their end, before a restart at the end
	others  int                     // writes of others, but for states
	watched map[int]map[string]bool // the paths that programs watch, by controller
	at      time.Duration
}

// names turns what differs from run to run into what does not.
type names struct {
	uids      map[string]key    // all that the run has seen
	live      map[string]bool   // uids of objects that exist
	generated map[string]string // names that the server made, and what stands for them
	owned     map[key]key       // objects whose names the server has drawn, and what they belong to
	clients   []string          // names of the starts of controllers
	versions  map[string]bool
	types     map[string]*codec.Type // of the kinds, by resource
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
	if of, ok := n.owned[k]; ok {
		return "<" + of.resource + "/" + n.object(of) + ">"
	}
	namespace, name := "", k.object
	if i := strings.IndexByte(name, '/'); i >= 0 {
		namespace, name = name[:i+1], name[i+1:]
	}
	name = n.inName(name)
	if p, ok := n.loose.prefix(key{k.resource, namespace + name}); ok {
		return p
	}
	return namespace + name
}

// inName replaces what a name has of other objects: their uids, and their names that the server has made.
func (n *names) inName(name string) string {
	if g, ok := n.generated[name]; ok {
		return g
	}
	if len(name) > 36 && strings.Count(name, "-") >= 4 {
		name = uuids.ReplaceAllStringFunc(name, func(uid string) string {
			if k, ok := n.uids[uid]; ok && !strings.Contains(k.object, uid) {
				return "<" + k.resource + "/" + n.object(k) + ">"
			}
			return "<uid>"
		})
	}
	for made, stands := range n.generated {
		if len(name) > len(made) && strings.Contains(name, made) {
			name = strings.ReplaceAll(name, made, stands)
		}
	}
	return name
}

// belongsTo returns what an IPAddress was taken for. The server has drawn its name.
func belongsTo(it *registry.Item) (of key, ok bool) {
	if gr := it.GroupResource(); gr.Resource != addresses || gr.Group != "networking.k8s.io" {
		return key{}, false
	}
	data, err := it.AppendJSON(nil, 0)
	if err != nil {
		return key{}, false
	}
	var o struct {
		Spec struct {
			ParentRef struct{ Resource, Namespace, Name string }
		}
	}
	if json.Unmarshal(data, &o) != nil || o.Spec.ParentRef.Name == "" {
		return key{}, false
	}
	return key{o.Spec.ParentRef.Resource, objectName(o.Spec.ParentRef.Namespace, o.Spec.ParentRef.Name)}, true
}

const addresses = "ipaddresses"

// address returns what stands for an address that the server has drawn, or the text itself.
func (n *names) address(text string) string {
	k := key{addresses, text}
	if _, ok := n.owned[k]; ok {
		return "<address of " + strings.Trim(n.object(k), "<>") + ">"
	}
	return text
}

var ipv4 = regexp.MustCompile(`[0-9]{1,3}(\.[0-9]{1,3}){3}`)

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// text returns a string of an object as it is in all runs.
func (n *names) text(s string) string {
	if isTime(s) {
		return "<time>"
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
	if len(n.owned) > 0 {
		if s = n.address(s); strings.Count(s, ".") >= 3 {
			s = ipv4.ReplaceAllStringFunc(s, n.address)
		}
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && isMoment(v) {
		return "<time>"
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

// isMoment reports whether a number is a time of a run, in seconds or in a smaller unit. A bubble begins in the year 2000.
func isMoment(v float64) bool {
	const begin, end = 946684800, 946684800 + 60*24*3600
	for range 4 {
		if v >= begin && v < end {
			return true
		}
		v /= 1000
	}
	return false
}

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
			if holder, ok := spec["holderIdentity"].(string); ok && slices.ContainsFunc(n.clients, func(c string) bool { return strings.Contains(holder, c) }) {
				spec["holderIdentity"] = "<client>"
			}
		}
	}
	return n.walk(o, n.types[resourceOf(it)], nil).(map[string]any)
}

// resourceOf names the resource of an object in all groups.
func resourceOf(it *registry.Item) string { return it.GroupResource().String() }

// walk changes what differs from run to run in a value, and the order of lists that have none. t and list are what the kind declares for it, or nil.
func (n *names) walk(v any, t *codec.Type, list *codec.Field) any {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case float64:
		if isMoment(v) {
			return "<time>"
		}
	case map[string]any:
		for name, member := range v {
			f, elem := memberOf(t, name)
			if f != nil {
				elem = f.Type
			}
			v[name] = n.walk(member, elem, f)
		}
	case []any:
		var elem *codec.Type
		if t != nil && t.Kind == codec.List {
			elem = t.Elem
		}
		for i := range v {
			var below *codec.Field
			if elem != nil {
				below = elem.AsField
			}
			v[i] = n.walk(v[i], elem, below)
		}
		sortList(v, list)
	}
	return v
}

// memberOf returns what a type declares for a member.
func memberOf(t *codec.Type, name string) (*codec.Field, *codec.Type) {
	switch {
	case t == nil:
	case t.Kind == codec.Struct:
		return t.Member(name)
	case t.Kind == codec.Map:
		if t.Elem != nil {
			return t.Elem.AsField, t.Elem
		}
	}
	return nil, nil
}

// sortList sorts a list that is a set or has keys, as its field says. In a list that no field declares, the items may have a member that is a key.
func sortList(v []any, list *codec.Field) {
	order := orderOf
	switch {
	case list != nil && list.ListType == "map":
		order = func(item any) string { return keysOf(item, list.ListMapKeys) }
	case list != nil && list.ListType == "set":
		order = show
	case list == nil:
		if name := ownKey(v); name != "" {
			order = func(item any) string { return keysOf(item, []string{name}) }
		}
	}
	slices.SortStableFunc(v, func(a, b any) int { return cmp.Compare(order(a), order(b)) })
}

// keysOf returns the values of the keys of an item in a form that can be sorted.
func keysOf(item any, names []string) (text string) {
	m, _ := item.(map[string]any)
	for _, name := range names {
		value := show(m[name])
		if n, ok := m[name].(float64); ok {
			value = fmt.Sprintf("%020.3f", n)
		}
		text += value + " "
	}
	return text
}

// ownKey returns the name of a member that tells the items of a list apart, or "".
func ownKey(v []any) string {
	for _, name := range []string{"type", "uid", "name", "key", "id"} {
		seen := map[string]bool{}
		for _, item := range v {
			m, _ := item.(map[string]any)
			if s, ok := m[name].(string); ok {
				seen[s] = true
			}
		}
		if len(v) > 1 && len(seen) == len(v) {
			return name
		}
	}
	return ""
}

// orderOf returns what an item of another list is sorted by: conditions by their type, owners by their uid. Other lists keep their order.
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

// absent stands for a member that is not there.
const absent = "absent"

// show returns a value as JSON, and none for an absent one.
func show(v any) string {
	if v == nil {
		return absent
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
