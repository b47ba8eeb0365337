package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// report prints what differs between two recordings: + is new, - is gone, ~ is another.
func report(out io.Writer, from, to version, before, after recording) {
	fmt.Fprintf(out, "Kubernetes %s, then %s\n", strings.TrimPrefix(from.kubernetes, "v"), strings.TrimPrefix(to.kubernetes, "v"))
	for _, part := range []struct {
		name          string
		before, after map[string]string
	}{
		{"gates", before.gates, after.gates},
		{"kinds", before.kinds, after.kinds},
		{"fields", before.fields, after.fields},
		{"answers to the scenarios of internal/test/kube/kinds", before.answers, after.answers},
		{"answers to the scenarios of httpapi/testdata/wire", before.wire, after.wire},
	} {
		rows := differences(part.before, part.after)
		fmt.Fprintf(out, "\n%s: %d differ\n", part.name, len(rows))
		for _, row := range rows {
			fmt.Fprintln(out, "  "+row)
		}
	}
}

// differences returns a row for each name that only one map has, or that has another text in the second, ordered by name.
func differences(before, after map[string]string) (rows []string) {
	names := slices.Sorted(maps.Keys(before))
	names = append(names, slices.Sorted(maps.Keys(after))...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := after[name]
		switch {
		case !had:
			rows = append(rows, "+ "+name+": "+short(is))
		case !has:
			rows = append(rows, "- "+name+": "+short(was))
		case was != is:
			a, b := apart(was, is)
			rows = append(rows, "~ "+name+": "+a+" -> "+b)
		}
	}
	return rows
}

// apart returns both texts from shortly before the first byte that differs.
func apart(a, b string) (string, string) {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	i = max(0, i-20)
	return cmp.Or(short(a[i:]), "nothing"), cmp.Or(short(b[i:]), "nothing")
}

// short returns the beginning of a text, in one line.
func short(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\n", " "), "")
}
