package registry

import (
	"github.com/kubecoord/kubecoord/internal/kinds"
	"slices"
	"sync"
)

// pageCache remembers the last pages that were read of one state. Informers that start
// at the same time, and clients that poll, ask for the same pages until the next change.
type pageCache struct {
	limit int // in bytes

	mu    sync.Mutex // guards kept, bytes, and joined, again and bytes of each page
	kept  []*page    // the last used first
	bytes int        // of kept
}

// The limits of a pageCache. The state of now may remember the encoded items of 20,000
// Leases. Old states remember where their pages end.
const (
	cachedPages     = 64
	freshPagesBytes = 16 << 20
	oldPagesBytes   = 1 << 20
)

// query has the options that select a page of a state.
type query struct {
	version                           int // of a selection that converts, else 0
	namespace, labels, fields, shards string
	paged                             bool
	start                             string
	limit                             int64
}

// all reports whether a query selects everything behind its start.
func (q query) all() bool { return q.labels == "" && q.fields == "" && q.shards == "" }

// page holds the selected items of one state.
type page struct {
	query
	items     []*Item
	next      string // the start of the next page, or ""
	remaining int64  // behind the page, if the query selects everything

	cache  *pageCache // nil if the page is not remembered
	joined []joinedItems
	bytes  int  // 0 while the cache does not have the page
	again  bool // asked for more than once
}

// joinedItems are all items of a page in one form and format.
type joinedItems struct {
	form   int
	format kinds.Format
	data   []byte // nil until it is made
}

// get returns a remembered page, or nil.
func (c *pageCache) get(q query) *page {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(p *page) bool { return p.query == q })
	if i < 0 {
		return nil
	}
	p := c.kept[i]
	copy(c.kept[1:], c.kept[:i])
	c.kept[0] = p
	p.again = true
	return p
}

// before returns the page that ends where a page starts, or nil.
func (c *pageCache) before(q query) *page {
	if c == nil || !q.paged {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(p *page) bool { return p.all() && p.namespace == q.namespace && p.next != "" && p.next == q.start })
	if i < 0 {
		return nil
	}
	return c.kept[i]
}

// put remembers a page. Another one of the same query may be there already.
func (c *pageCache) put(p *page) {
	if c == nil {
		return
	}
	const overhead = 256 // of the structures
	bytes := overhead + 8*len(p.items) + len(p.labels) + len(p.fields) + len(p.shards) + len(p.start) + len(p.next)
	if bytes > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.cache, p.bytes = c, bytes
	c.bytes += bytes
	c.kept = slices.Insert(c.kept, 0, p)
	c.shrink()
}

// shrink drops the pages that were not used for the longest time.
func (c *pageCache) shrink() {
	for len(c.kept) > cachedPages || c.bytes > c.limit {
		last := c.kept[len(c.kept)-1]
		c.kept = slices.Delete(c.kept, len(c.kept)-1, len(c.kept)) // clears the pointer
		c.bytes -= last.bytes
		last.bytes = 0
	}
}

// joinedAs returns the bytes that remember stored, and how many it may store: 0 if the page was
// asked for only once, and for all but the first caller.
func (p *page) joinedAs(form int, f kinds.Format) (data []byte, limit int) {
	c := p.cache
	if c == nil {
		return nil, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch i := p.indexJoined(form, f); {
	case i >= 0:
		return p.joined[i].data, 0
	case !p.again:
		return nil, 0
	}
	p.joined = append(p.joined, joinedItems{form, f, nil})
	return nil, c.limit / 2
}

// remember stores the joined items. joinedAs must have allowed it.
func (p *page) remember(form int, f kinds.Format, data []byte) {
	c := p.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	p.joined[p.indexJoined(form, f)].data = data
	if p.bytes > 0 {
		p.bytes += len(data)
		c.bytes += len(data)
		c.shrink()
	}
}

func (p *page) indexJoined(form int, f kinds.Format) int {
	return slices.IndexFunc(p.joined, func(j joinedItems) bool { return j.form == form && j.format == f })
}
