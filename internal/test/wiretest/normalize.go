package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// normalizer replaces all values that differ between two correct runs by symbols. A symbol is numbered by the first
// appearance of its value, so that equal values stay equal and different values stay different.
type normalizer struct {
	fixed    string            // the scenario as text: its values are not replaced
	vars     map[string]string // holds the namespaces
	forms    *forms
	made     []generated
	versions map[string]string // from a value to its symbol, as in the next two
	uids     map[string]string
	names    map[string]string
}

func newNormalizer(s Scenario, vars map[string]string) *normalizer {
	// A decoded tree can always be encoded.
	fixed, _ := json.Marshal(s)
	n := &normalizer{
		fixed:    string(fixed),
		vars:     vars,
		forms:    textForms(),
		versions: map[string]string{},
		uids:     map[string]string{},
		names:    map[string]string{},
	}
	n.made = n.forms.generatedNames(n.fixed)
	return n
}

// symbol returns the symbol of a value. A new value gets the next number.
func symbol(symbols map[string]string, kind, value string) string {
	if s, ok := symbols[value]; ok {
		return s
	}
	s := fmt.Sprintf("{%s%d}", kind, len(symbols)+1)
	symbols[value] = s
	return s
}

func (n *normalizer) version(v string) string {
	if v == "" || v == "0" {
		return v
	}
	return symbol(n.versions, "rv", v)
}

// versionOrder lists the version symbols by numeric value. A version that is not a positive decimal number is reported as
// such, at the end.
func (n *normalizer) versionOrder() []string {
	type entry struct {
		symbol string
		value  *big.Int
	}
	var good []entry
	var bad []string
	for version, symbol := range n.versions {
		value, ok := new(big.Int).SetString(version, 10)
		if !ok || value.Sign() <= 0 || value.String() != version {
			bad = append(bad, symbol+" is not a positive decimal number")
			continue
		}
		good = append(good, entry{symbol, value})
	}
	slices.SortFunc(good, func(a, b entry) int { return a.value.Cmp(b.value) })
	slices.Sort(bad)
	var order []string
	for _, e := range good {
		order = append(order, e.symbol)
	}
	return append(order, bad...)
}

// value returns a normalised copy of a tree.
func (n *normalizer) value(tree any) any { return n.walk("", tree) }

// walk normalises the value of a key. The elements of an array have the key of the array.
func (n *normalizer) walk(key string, tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		return n.object(node)
	case []any:
		out := make([]any, len(node))
		for i := range node {
			out[i] = n.walk(key, node[i])
		}
		return out
	case string:
		return n.leaf(key, node)
	}
	return tree
}

func (n *normalizer) object(node map[string]any) map[string]any {
	out := make(map[string]any, len(node))
	// Metadata comes first, so that names and versions get their symbols in one fixed order.
	keys := slices.Sorted(maps.Keys(node))
	if i := slices.Index(keys, "metadata"); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, "metadata")
	}
	for _, k := range keys {
		out[n.text(k)] = n.walk(k, node[k])
	}
	if node["kind"] == "Table" {
		n.table(out)
	}
	sortConflicts(out["causes"])
	return out
}

func (n *normalizer) leaf(key, s string) string {
	switch key {
	case "resourceVersion":
		if !strings.Contains(n.fixed, `"resourceVersion":"`+s+`"`) {
			return n.version(s)
		}
	case "creationTimestamp", "deletionTimestamp", "time":
		if n.forms.time.MatchString(s) && !strings.Contains(n.fixed, s) {
			return "{time}"
		}
	case "continue":
		if s != "" {
			return "{continue}"
		}
	case "serverAddress":
		return "{address}"
	}
	return n.text(s)
}

// table removes ages, which are in the last column, and the texts of the column descriptions.
func (n *normalizer) table(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	for _, c := range columns {
		column, _ := c.(map[string]any)
		if description, _ := column["description"].(string); description != "" {
			column["description"] = "{description}"
		}
	}
	rows, _ := table["rows"].([]any)
	for _, r := range rows {
		row, _ := r.(map[string]any)
		cells, _ := row["cells"].([]any)
		if len(cells) == 0 {
			continue
		}
		last := len(cells) - 1
		if text, _ := cells[last].(string); n.forms.age.MatchString(text) {
			cells[last] = "{age}"
		}
	}
}

// sortConflicts puts apply conflicts in a fixed order: a server finds them by walking managers in no particular one.
func sortConflicts(causes any) {
	list, _ := causes.([]any)
	for _, c := range list {
		if cause, _ := c.(map[string]any); cause["reason"] != "FieldManagerConflict" {
			return
		}
	}
	text := func(c any) string {
		cause, _ := c.(map[string]any)
		return fmt.Sprint(cause["message"], cause["field"])
	}
	slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(text(a), text(b)) })
}
