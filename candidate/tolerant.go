package candidate

import "strings"

// readTolerant reads a version in the loose form that the coordinator of a real
// control plane accepts: spaces around it, a leading "v", zeros before a number,
// and, where nothing follows them, just one or two numbers. Objects hold such
// versions only where nobody checked them.
func readTolerant(s string) (version, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "v")
	parts := strings.SplitN(s, ".", 3)
	for i, part := range parts {
		digits := 0
		for digits < len(part) && '0' <= part[digits] && part[digits] <= '9' {
			digits++
		}
		number := strings.TrimLeft(part[:digits], "0")
		if number == "" && digits > 0 {
			number = "0"
		}
		parts[i] = number + part[digits:]
	}
	if len(parts) < 3 {
		if strings.ContainsAny(parts[len(parts)-1], "+-") {
			return version{}, false
		}
		for len(parts) < 3 {
			parts = append(parts, "0")
		}
	}
	return parseVersion(strings.Join(parts, "."))
}

// parseTolerant takes a version that cannot be read as 0.0.0.
func parseTolerant(s string) version {
	v, _ := readTolerant(s)
	return v
}
