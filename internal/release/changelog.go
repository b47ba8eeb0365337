package main

import (
	"errors"
	"strings"
	"time"
)

const unreleased = "## Unreleased\n"

// dated returns CHANGELOG.md with the unreleased entries below the version and the date, in UTC.
func dated(changelog, version string, now time.Time) (string, error) {
	before, after, found := strings.Cut(changelog, "\n"+unreleased)
	if !found {
		return "", errors.New(`CHANGELOG.md has no line "## Unreleased": add it above the entries of this release`)
	}
	entries, _, _ := strings.Cut(after, "\n## ")
	if strings.TrimSpace(entries) == "" {
		return "", errors.New(`CHANGELOG.md has no entries below "## Unreleased": say what users get`)
	}
	return before + "\n" + unreleased + "\n## " + version + ", " + now.UTC().Format(time.DateOnly) + "\n" + after, nil
}
