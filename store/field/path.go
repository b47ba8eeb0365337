package field

import "strconv"

// Path is the dotted path of a field, such as "spec.leaseName" or
// "subsets[0].addresses[1].ip". Extending a path allocates, so build it where
// a problem is reported rather than on the way there.
type Path string

// Child returns the path of a member. On the empty path it is the member.
func (p Path) Child(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "." + Path(name)
}

// Index returns the path of an item of a list.
func (p Path) Index(i int) Path {
	return p + "[" + Path(strconv.Itoa(i)) + "]"
}
