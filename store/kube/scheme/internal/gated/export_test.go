package gated

import "slices"

// Texts returns all paths.
func Texts() (out []string) {
	for _, kind := range kinds() {
		for _, r := range slices.Concat(specs(kind), statuses(kind)) {
			out = append(out, r.drops...)
		}
	}
	return out
}
