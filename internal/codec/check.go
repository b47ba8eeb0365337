package codec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/schema"
)

// checkSchema refuses a schema that cannot be compiled. The error names the path of the schema, its member and the rule.
func checkSchema(s *schema.Schema) error {
	if s.Type != "object" {
		return fmt.Errorf("Schema: the object: Type: got %q, want \"object\"", s.Type)
	}
	c := &schemaChecker{seen: map[*schema.Schema]bool{}}
	c.check("", s)
	return c.err
}

// schemaChecker checks the schemas of one object. After an error it continues, and keeps the first.
type schemaChecker struct {
	seen map[*schema.Schema]bool // the value is true for those around the current one
	path []string
	err  error
}

func (c *schemaChecker) fail(member, format string, args ...any) {
	if c.err == nil {
		path := strings.TrimPrefix(strings.Join(c.path, ""), ".")
		c.err = fmt.Errorf("Schema: %s: %s: "+format, append([]any{cmp.Or(path, "the object"), member}, args...)...)
	}
}

// check checks a schema and those in it. part is its part of the path.
func (c *schemaChecker) check(part string, s *schema.Schema) {
	if s == nil {
		return
	}
	around, seen := c.seen[s]
	if seen && (!around || s.Name != "") {
		return
	}
	c.path = append(c.path, part)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if around {
		c.fail("Name", `got "" for a schema that contains itself, want a name`)
		return
	}
	c.seen[s] = true
	switch s.Type {
	case "object":
		c.checkObject(s)
	case "array":
		c.checkList(s)
		c.check("[]", s.Items)
	case "string", "integer", "number", "boolean", "":
	default:
		c.fail("Type", `got %q, want "object", "array", "string", "integer", "number", "boolean" or ""`, s.Type)
	}
	c.seen[s] = false
}

func (c *schemaChecker) checkObject(s *schema.Schema) {
	if s.Additional != nil && len(s.Properties) > 0 {
		c.fail("Additional", "got Properties too, want one of both")
	}
	names := make(map[string]bool, len(s.Properties))
	for _, p := range s.Properties {
		if names[p.Name] {
			c.fail("Properties", "got %q twice, want it once", p.Name)
		}
		names[p.Name] = true
	}
	for _, p := range s.Properties {
		c.check("."+p.Name, p.Schema)
	}
	c.check(".*", s.Additional)
}

// checkList refuses a list type that does not fit the items.
func (c *schemaChecker) checkList(s *schema.Schema) {
	switch s.ListType {
	case "", "atomic", "set":
		return
	case "map":
	default:
		c.fail("ListType", `got %q, want "atomic", "set" or "map"`, s.ListType)
	}
	if s.Items == nil || s.Items.Type != "object" {
		c.fail("ListType", `got "map" for items that are no objects, want "atomic" or "set"`)
		return
	}
	if len(s.ListMapKeys) == 0 {
		c.fail("ListMapKeys", "got none, want the members that identify an item")
	}
	for _, key := range s.ListMapKeys {
		if !slices.ContainsFunc(s.Items.Properties, func(p schema.Property) bool { return p.Name == key }) {
			c.fail("ListMapKeys", "got %q, want a member of the items", key)
		}
	}
}
