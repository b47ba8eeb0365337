package gated

import (
	"slices"
	"strings"
)

// Texts returns all paths.
func Texts() (out []string) {
	for _, kind := range kinds() {
		for _, r := range slices.Concat(specs(kind), statuses(kind)) {
			out = append(out, r.drops...)
		}
	}
	return out
}

// Gates returns the gates of all rules.
func Gates() (out []string) {
	for _, kind := range kinds() {
		for _, r := range slices.Concat(specs(kind), statuses(kind)) {
			out = append(out, strings.Fields(r.gate)...)
		}
	}
	return out
}
