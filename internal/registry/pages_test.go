package registry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/kinds"
)

func TestPageCacheIsBounded(t *testing.T) {
	c := &pageCache{limit: 10_000}
	pageOf := func(i, items int) *page {
		return &page{query: query{start: fmt.Sprintf("%03d", i), paged: true}, items: make([]*Item, items)}
	}
	for i := range 200 {
		c.put(pageOf(i, 1))
		assert.LessOrEqual(t, c.bytes, c.limit)
	}
	assert.Nil(t, c.get(query{start: "000", paged: true}), "not used for the longest time")
	last := c.get(query{start: "199", paged: true})
	assert.NotNil(t, last)

	c.put(pageOf(300, 2000))
	assert.Nil(t, c.get(query{start: "300", paged: true}), "too large")

	data, limit := last.joinedAs(0, kinds.JSON)
	assert.Nil(t, data)
	assert.Equal(t, 5000, limit)
	_, limit = last.joinedAs(0, kinds.JSON)
	assert.Zero(t, limit, "another caller joins")
	last.remember(0, kinds.JSON, make([]byte, 4000))
	assert.Greater(t, last.bytes, 4000)
	data, limit = last.joinedAs(0, kinds.JSON)
	assert.Len(t, data, 4000)
	assert.Zero(t, limit)
	assert.LessOrEqual(t, c.bytes, c.limit)

	sum := 0
	for _, p := range c.kept {
		sum += p.bytes
	}
	assert.Equal(t, c.bytes, sum)
	for _, start := range []string{"190", "195", "190"} {
		assert.NotNil(t, c.get(query{start: start, paged: true}))
	}
	var order []string
	for _, p := range c.kept[:3] {
		order = append(order, p.start)
	}
	assert.Equal(t, []string{"190", "195", "199"}, order, "the last used first")
	once := pageOf(400, 1)
	c.put(once)
	_, limit = once.joinedAs(0, kinds.JSON)
	assert.Zero(t, limit, "asked for once")
	for i := range 100 {
		c.put(pageOf(500+i, 1))
	}
	assert.Nil(t, c.get(last.query))
	_, limit = last.joinedAs(1, kinds.JSON)
	assert.Equal(t, 5000, limit, "a page that the cache has dropped still works")
	last.remember(1, kinds.JSON, make([]byte, 4000))
	assert.Zero(t, last.bytes)
	assert.LessOrEqual(t, c.bytes, c.limit)
}

func TestSnapshotCacheKeepsTheLastUsed(t *testing.T) {
	var c snapshotCache
	versions := func() (out []uint64) {
		for _, s := range c.all() {
			out = append(out, s.version)
		}
		return out
	}
	for v := range uint64(cachedSnapshots) {
		c.put(snapshot{version: v})
	}
	assert.Equal(t, []uint64{3, 2, 1, 0}, versions())
	s, ok := c.get(1)
	assert.True(t, ok)
	assert.EqualValues(t, 1, s.version)
	assert.Equal(t, []uint64{1, 3, 2, 0}, versions())
	c.put(snapshot{version: 4})
	assert.Equal(t, []uint64{4, 1, 3, 2}, versions())
	_, ok = c.get(0)
	assert.False(t, ok)
	c.dropBefore(3)
	assert.Equal(t, []uint64{4, 3}, versions())
}
