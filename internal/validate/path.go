package validate

import "strings"

// PathSegmentName says what keeps a name from being one segment of a URL path. The empty name and names of any length
// pass (apimachinery, api/validate/content IsPathSegmentName).
func PathSegmentName(name string) []string {
	if name == "." || name == ".." {
		return []string{"may not be '" + name + "'"}
	}
	return PathSegmentPrefix(name)
}

// PathSegmentPrefix says what keeps a value from being the start of a path segment. Unlike PathSegmentName it lets "."
// and ".." pass: what follows may make them a name (apimachinery, api/validate/content IsPathSegmentPrefix).
func PathSegmentPrefix(name string) []string {
	var problems []string
	for _, part := range [...]string{"/", "%"} {
		if strings.Contains(name, part) {
			problems = append(problems, "may not contain '"+part+"'")
		}
	}
	return problems
}

// NameIsPathSegment is the rule of PathSegmentName in the form of a kind's name rule; prefix is set for a generateName.
func NameIsPathSegment(name string, prefix bool) []string {
	if prefix {
		return PathSegmentPrefix(name)
	}
	return PathSegmentName(name)
}
