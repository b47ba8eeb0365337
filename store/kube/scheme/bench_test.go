package scheme

import "testing"

// BenchmarkBuiltins makes all built-in kinds, as the first server of a process does.
func BenchmarkBuiltins(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		builder := newBuilder()
		for _, r := range resources() {
			if _, err := builder.builtin(r); err != nil {
				b.Fatal(err)
			}
		}
	}
}
