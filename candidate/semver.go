package candidate

import (
	"cmp"
	"strconv"
	"strings"
)

// version is a semantic version without its build metadata, which takes no part
// in comparisons (semver.org, version 2.0.0). The zero value is 0.0.0.
type version struct {
	major, minor, patch uint64
	pre                 string // identifiers joined by dots; "" for a release
}

// parseVersion reads the strict form: three numbers, then "-" and identifiers,
// then "+" and identifiers. Numbers have no leading zeros and fit into 64 bits.
// It reports false, and 0.0.0, for anything else.
func parseVersion(s string) (v version, ok bool) {
	major, rest, _ := strings.Cut(s, ".")
	minor, rest, _ := strings.Cut(rest, ".")
	rest, build, hasBuild := strings.Cut(rest, "+")
	patch, pre, hasPre := strings.Cut(rest, "-")

	for _, part := range [...]struct {
		text string
		into *uint64
	}{{major, &v.major}, {minor, &v.minor}, {patch, &v.patch}} {
		n, ok := parseNumber(part.text)
		if !ok {
			return version{}, false
		}
		*part.into = n
	}
	if hasPre && !areIdentifiers(pre, true) || hasBuild && !areIdentifiers(build, false) {
		return version{}, false
	}
	v.pre = pre
	return v, true
}

// parseNumber refuses signs, leading zeros, and numbers of more than 64 bits.
func parseNumber(s string) (uint64, bool) {
	if !isNumeric(s) || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func isNumeric(s string) bool { return s != "" && strings.Trim(s, digits) == "" }

// areIdentifiers reports whether s is a list of identifiers joined by dots, each of
// letters, digits and dashes. In a pre-release an identifier of digits is a number.
func areIdentifiers(s string, preRelease bool) bool {
	for more := true; more; {
		var id string
		if id, s, more = strings.Cut(s, "."); id == "" || strings.Trim(id, digits+letters+"-") != "" {
			return false
		}
		if _, ok := parseNumber(id); preRelease && isNumeric(id) && !ok {
			return false
		}
	}
	return true
}

func (v version) isZero() bool { return v == version{} }

// compare orders versions by precedence: negative where v comes before w.
func (v version) compare(w version) int {
	if c := cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor), cmp.Compare(v.patch, w.patch)); c != 0 {
		return c
	}
	switch {
	case v.pre == w.pre:
		return 0
	case v.pre == "": // a release comes after its pre-releases
		return 1
	case w.pre == "":
		return -1
	}
	return comparePreReleases(v.pre, w.pre)
}

// comparePreReleases compares two different pre-releases, identifier by identifier. If
// one is the beginning of the other, the longer one is later.
func comparePreReleases(a, b string) int {
	for {
		idA, restA, moreA := strings.Cut(a, ".")
		idB, restB, moreB := strings.Cut(b, ".")
		if c := compareIdentifiers(idA, idB); c != 0 {
			return c
		}
		switch {
		case !moreA:
			return -1
		case !moreB:
			return 1
		}
		a, b = restA, restB
	}
}

// compareIdentifiers puts numbers before words and compares like with like.
// Numbers have no leading zeros, so the longer one is greater.
func compareIdentifiers(a, b string) int {
	numA, numB := isNumeric(a), isNumeric(b)
	switch {
	case numA && numB:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case numA:
		return -1
	case numB:
		return 1
	}
	return strings.Compare(a, b)
}

// readTolerant reads a version in the loose form that the coordinator of a real control
// plane accepts: spaces around it, a leading "v", leading zeros, and only one or two
// numbers. Validation refuses such versions, so they occur only in unchecked objects.
func readTolerant(s string) (version, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "v")
	parts := strings.SplitN(s, ".", 3)
	for i, part := range parts {
		rest := strings.TrimLeft(part, digits)
		number := strings.TrimLeft(part[:len(part)-len(rest)], "0")
		if number == "" && rest != part {
			number = "0"
		}
		parts[i] = number + rest
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return parseVersion(strings.Join(parts, "."))
}

// parseTolerant returns 0.0.0 for a version that is not valid.
func parseTolerant(s string) version {
	v, _ := readTolerant(s)
	return v
}
