package floors

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLinksLeadToHeadings checks the part of each link after the "#": the page has a heading with this anchor.
func TestLinksLeadToHeadings(t *testing.T) {
	root := moduleRoot(t)
	for _, page := range pages(t, root) {
		for _, target := range links(read(t, root, page)) {
			to, anchor, found := strings.Cut(target, "#")
			if !found {
				continue
			}
			file := page
			if to != "" {
				file = path.Join(path.Dir(page), to)
			}
			assert.True(t, slices.Contains(anchors(read(t, root, file)), anchor), "%s links to %s, which has no such heading", page, target)
		}
	}
}

// TestPagesAreTwoClicksFromReadme checks that a reader finds each page: README.md links to it, or to a page that links to it.
func TestPagesAreTwoClicksFromReadme(t *testing.T) {
	root := moduleRoot(t)
	near := []string{"README.md"}
	for range 2 {
		for _, page := range slices.Clone(near) {
			for _, target := range links(read(t, root, page)) {
				to, _, _ := strings.Cut(target, "#")
				if strings.HasSuffix(to, ".md") {
					near = append(near, path.Join(path.Dir(page), to))
				}
			}
		}
	}
	for _, page := range pages(t, root) {
		assert.True(t, slices.Contains(near, page), "%s is further than two clicks from README.md", page)
	}
}

// links returns the targets of the links in a page, except links to other hosts.
func links(page string) (targets []string) {
	for _, link := range regexp.MustCompile(`\]\(([^):\s]+)\)`).FindAllStringSubmatch(page, -1) {
		targets = append(targets, link[1])
	}
	return targets
}

// anchors returns the anchors that GitHub makes for the headings of a page: lower case, hyphens for spaces, no punctuation, and a
// number after an anchor that comes again.
func anchors(page string) (found []string) {
	counts := map[string]int{}
	page = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(page, "") // a "#" in a block of code is no heading
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		anchor := regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		anchor = strings.ReplaceAll(anchor, " ", "-")
		counts[anchor]++
		if n := counts[anchor]; n > 1 {
			anchor += "-" + strconv.Itoa(n-1)
		}
		found = append(found, anchor)
	}
	return found
}

func TestAnchorsMatchGitHub(t *testing.T) {
	const page = "# From client-go's fake\n## A `kind`, again\n```\n# no heading\n```\n## A kind again\n"
	assert.Equal(t, []string{"from-client-gos-fake", "a-kind-again", "a-kind-again-1"}, anchors(page))
	assert.Equal(t, []string{"#a", "b.md#c"}, links("[x](#a) [y](b.md#c) [z](https://example.com/d.md)"))
}
