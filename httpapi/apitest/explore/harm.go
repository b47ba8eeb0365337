package explore

import (
	"cmp"
	"slices"
	"strings"
)

// byHarm sorts what is wrong at one rest: the first is the headline of the finding. What is lost or left over comes before members, and what
// a user wants before what a controller reports. Otherwise the order stays.
func byHarm(all []verdict) []verdict {
	slices.SortStableFunc(all, func(a, b verdict) int { return cmp.Compare(a.harm(), b.harm()) })
	return all
}

// harm is smaller for what is worse.
func (v *verdict) harm() int {
	const (
		byItself = iota // a panic, a failed check, no rest
		objects         // missing, left over, too many
		wants           // .spec, .data and what else is not below
		deleted         // and made again
		created
		labels // metadata
		reports
		rest
	)
	switch {
	case v.key.resource == addresses:
		return rest // its Service tells more
	case slices.Contains([]string{"panic", "rest", "check", "lost"}, v.class):
		return byItself
	case v.class == "count" && v.path == "deleted":
		return deleted
	case v.class == "count":
		return created
	case v.class == "way", v.class == "moved":
		return wants
	case v.class != "state":
		return rest
	case !strings.HasPrefix(v.path, "."):
		return objects
	case strings.HasPrefix(v.path, ".status"):
		return reports
	case strings.HasPrefix(v.path, ".metadata"):
		return labels
	}
	return wants
}
