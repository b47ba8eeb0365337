package selector_test

import (
	"testing"

	"github.com/kubecoord/kubecoord/selector"
)

func BenchmarkParseLabels(b *testing.B) {
	for name, in := range map[string]string{
		"equality": "app=web",
		"mixed":    "app=web,tier in (front,middle,back),!canary,build>100",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := selector.ParseLabels(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLabelsMatch(b *testing.B) {
	labels, err := selector.ParseLabels("app=web,tier in (front,middle,back),!canary,build>100")
	if err != nil {
		b.Fatal(err)
	}
	object := map[string]string{"app": "web", "tier": "back", "build": "200", "owner": "a"}
	b.ReportAllocs()
	for b.Loop() {
		if !labels.Matches(object) {
			b.Fatal("not selected")
		}
	}
}

func BenchmarkParseFields(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := selector.ParseFields("metadata.name=main,metadata.namespace=default"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFieldsMatch(b *testing.B) {
	fields, err := selector.ParseFields("metadata.name=main,metadata.namespace=default")
	if err != nil {
		b.Fatal(err)
	}
	get := func(field string) string {
		if field == "metadata.name" {
			return "main"
		}
		return "default"
	}
	b.ReportAllocs()
	for b.Loop() {
		if !fields.Matches(get) {
			b.Fatal("not selected")
		}
	}
}

func BenchmarkParseShards(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := selector.ParseShards(lower + " || " + upper); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShardsMatch(b *testing.B) {
	shards, _, err := selector.ParseShards(lower + " || " + upper)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !shards.Matches("8f6b9a0e-0c3f-4c7a-9b53-0d4f6a9b1f11", "default") {
			b.Fatal("not selected")
		}
	}
}
