package httpapi

import (
	"encoding/json"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// tableOptions says what a Table holds beside its cells.
type tableOptions struct {
	include    string // Metadata, Object or None
	keepObject bool   // show metadata even where include is None
	noColumns  bool   // leave the columns out: an earlier table had them
}

// columnDefinition is a column on the wire.
type columnDefinition struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
}

// readTableOptions reads includeObject where a Table is asked for.
func (c *call) readTableOptions() error {
	if c.media.as.Kind != asTable {
		return nil
	}
	switch v := c.param("includeObject"); v {
	case "", "Metadata":
		c.table.include = "Metadata"
	case "Object", "None":
		c.table.include = v
	default:
		return meta.NewBadRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", v)
	}
	return nil
}

// itemTable returns one object as a Table of one row.
func (c *call) itemTable(it *registry.Item) ([]byte, error) {
	if c.table.include == "" {
		if err := c.readTableOptions(); err != nil {
			return nil, err
		}
	}
	return c.tableOf(meta.ListMeta{ResourceVersion: it.ResourceVersion()}, []*registry.Item{it})
}

// tableOf renders items as a Table. There is no protobuf form of one.
func (c *call) tableOf(m meta.ListMeta, items []*registry.Item) ([]byte, error) {
	out := append([]byte(nil), `{"kind":"`+asTable+`","apiVersion":"`+c.media.as.APIVersion+`","metadata":`...)
	out, err := c.api.lists.AppendJSON(out, &m)
	if err != nil {
		return nil, err
	}
	out = append(out, `,"columnDefinitions":`...)
	columns, err := json.Marshal(c.columns())
	if err != nil {
		return nil, err
	}
	out = append(append(out, columns...), `,"rows":[`...)
	now := c.api.st.Now()
	for i, it := range items {
		if i > 0 {
			out = append(out, ',')
		}
		cells, err := json.Marshal(it.Cells(now))
		if err != nil {
			return nil, err
		}
		object, err := c.rowObject(it)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `{"cells":`...), cells...)
		out = append(append(append(out, `,"object":`...), object...), '}')
	}
	return append(out, "]}"...), nil
}

func (c *call) columns() []columnDefinition {
	if c.table.noColumns {
		return nil
	}
	out := []columnDefinition{}
	for _, col := range c.endpoint.info.Columns {
		out = append(out, columnDefinition{col.Name, col.Type, col.Format, col.Description, col.Priority})
	}
	return out
}

func (c *call) rowObject(it *registry.Item) ([]byte, error) {
	switch {
	case c.table.include == "Object":
		return c.encodeWhole(it)
	case c.table.include == "None" && !c.table.keepObject:
		return []byte("null"), nil
	}
	return c.partial(it)
}
