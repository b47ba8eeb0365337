package yaml

// nodeKind says what a node is.
type nodeKind uint8

// The kinds of nodes.
const (
	scalarNode nodeKind = iota
	sequenceNode
	mappingNode
	aliasNode
)

// node is an element of the document as it was written.
type node struct {
	kind nodeKind
	// plain scalars have neither quotes nor a tag, or the tag is the
	// exclamation mark alone.
	plain bool
	line  int32  // from zero
	tag   string // of a scalar, in full; empty if there is none
	value string // of a scalar; the name of an alias
	// children are the items, or keys and values in turn, or what an alias
	// stands for.
	children []*node
}

// isMerge tells whether the node is a key that merges the value into the
// mapping.
func (n *node) isMerge() bool {
	return n.kind == scalarNode && n.value == "<<" && (n.plain || n.tag == tagMerge)
}

// nodeStore hands out nodes from larger pieces of memory.
type nodeStore struct{ free []node }

// new returns a zero node.
func (st *nodeStore) new() *node {
	if len(st.free) == 0 {
		st.free = make([]node, 64)
	}
	n := &st.free[0]
	st.free = st.free[1:]
	return n
}
