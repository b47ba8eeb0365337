package floors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// matches reports whether a pattern includes a package.
func matches(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	folder, below := strings.CutSuffix(pattern, "/...")
	return name == folder || below && strings.HasPrefix(name, folder+"/")
}

func anyMatches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// isOwn reports whether an import path belongs to this module, and returns the path below the module, or else the whole path.
func isOwn(path string) (name string, own bool) {
	if path == module {
		return ".", true
	}
	if name, own := strings.CutPrefix(path, module+"/"); own {
		return name, true
	}
	return path, false
}

// isStandard reports whether an import path belongs to the standard library: its first element has no dot.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// broken returns a message for each import that the rule refuses.
func (r rule) broken(all []pkg) []string {
	var broken []string
	allowed := strings.Join(slices.Concat(r.own, r.others), ", ")
	for _, p := range all {
		if !matches(r.packages, p.name()) {
			continue
		}
		for _, path := range p.Imports {
			name, own := isOwn(path)
			ok := !own && (isStandard(path) || anyMatches(r.others, path)) || own && anyMatches(r.own, name)
			if !ok {
				broken = append(broken, fmt.Sprintf("%s imports a refused package: got %s, want only %s and the standard library", p.name(), name, allowed))
			}
		}
	}
	return broken
}

// broken returns a message for each refused package that is reached.
func (r reach) broken(all []pkg) []string {
	var broken []string
	for _, p := range all {
		if !matches(r.packages, p.name()) || r.except != "" && matches(r.except, p.name()) {
			continue
		}
		reached := p.Deps
		if r.direct {
			reached = p.Imports
		}
		for _, name := range r.among(reached) {
			broken = append(broken, fmt.Sprintf("%s reaches a refused package: got %s, want none of %s", p.name(), name, strings.Join(r.refused, ", ")))
		}
		if !r.tests {
			continue
		}
		for _, name := range r.among(slices.Concat(p.TestImports, p.XTestImports)) {
			broken = append(broken, fmt.Sprintf("a test of %s imports a refused package: got %s, want none of %s", p.name(), name, strings.Join(r.refused, ", ")))
		}
	}
	return broken
}

// among returns the refused packages among the paths.
func (r reach) among(paths []string) []string {
	var refused []string
	for _, path := range paths {
		if name, _ := isOwn(path); anyMatches(r.refused, name) {
			refused = append(refused, name)
		}
	}
	return refused
}

// brokenRequirements returns a message for each requirement that is not allowed.
func brokenRequirements(all []requirement) []string {
	var broken []string
	known := requirable()
	for _, r := range all {
		onlyIndirect, ok := known[r.Path]
		switch {
		case !ok:
			broken = append(broken, fmt.Sprintf("go.mod: got %s, want one of %s", r.Path, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		case onlyIndirect && !r.Indirect:
			broken = append(broken, fmt.Sprintf("go.mod: got %s as a direct requirement, want it indirect only", r.Path))
		}
	}
	return broken
}

// brokenFolders returns a message for each folder that the root must not have.
func brokenFolders(names []string) []string {
	var broken []string
	for _, name := range names {
		if !strings.HasPrefix(name, ".") && !slices.Contains(folders(), name) {
			broken = append(broken, fmt.Sprintf("folders at the root: got %s, want one of %s, or a dot first", name, strings.Join(folders(), ", ")))
		}
	}
	return broken
}
