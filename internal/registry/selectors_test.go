package registry_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// There are more maps of labels than verdicts that a list remembers.
func TestListSelectsAmongManyLabels(t *testing.T) {
	leases := leasesIn(newStore(t))
	for i := range 1000 {
		l := newLease(fmt.Sprintf("ns/l%03d", i))
		l.Labels = map[string]string{"half": strconv.Itoa(i % 2), "n": strconv.Itoa(i)}
		mustCreate(t, leases, l)
	}
	items, _ := mustList(t, leases, registry.ListOptions{LabelSelector: "half=1"})
	assert.Len(t, items, 500)
	for _, l := range items {
		assert.Equal(t, "1", l.Labels["half"], l.Name)
	}
}

func TestShortBoundOfAShardIsAWarning(t *testing.T) {
	var warnings []string
	_, m := mustList(t, leasesIn(newStore(t)), registry.ListOptions{
		ShardSelector: "shardRange(object.metadata.uid, '0x0', '0x8')",
		Warn:          func(text string) { warnings = append(warnings, text) },
	})
	assert.Len(t, warnings, 2)
	assert.Contains(t, m.ShardInfo.Selector, "'0x0000000000000000'")
}
