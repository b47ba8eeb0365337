package selector_test

import (
	"fmt"

	"github.com/kubecoord/kubecoord/selector"
)

func ExampleParseLabels() {
	labels, err := selector.ParseLabels("tier in (front, back), !canary")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(labels.Matches(map[string]string{"tier": "front"}))
	fmt.Println(labels.Matches(map[string]string{"tier": "front", "canary": ""}))

	_, err = selector.ParseLabels("tier in front")
	fmt.Println(err)
	// Output:
	// true
	// false
	// unable to parse requirement: found 'front' expected: '('
}

func ExampleParseFields() {
	fields, err := selector.ParseFields("metadata.name==main,metadata.namespace!=kube-system")
	if err != nil {
		fmt.Println(err)
		return
	}
	lease := map[string]string{"metadata.name": "main", "metadata.namespace": "default"}
	fmt.Println(fields.Matches(func(field string) string { return lease[field] }))
	fmt.Println(fields.Exact("metadata.name"))
	known := []string{"metadata.name"}
	fmt.Println(fields.Unknown(known))
	fmt.Println(fields.Check(known))
	// Output:
	// true
	// main true
	// metadata.namespace true
	// "metadata.namespace" is not a known field selector: only "metadata.name"
}

func ExampleFieldEquals() {
	fields := selector.FieldEquals("metadata.name", "main")
	fmt.Println(fields.Matches(func(string) string { return "main" }))
	// Output:
	// true
}

// The zero values select every object.
func Example_zeroValues() {
	var labels selector.Labels
	var fields selector.Fields
	var shards selector.Shards
	fmt.Println(labels.Empty(), labels.Matches(nil))
	fmt.Println(fields.Empty(), fields.Matches(nil))
	fmt.Println(shards.Empty(), shards.Matches("", ""))
	// Output:
	// true true
	// true true
	// true true
}

func ExampleParseShards() {
	shards, warnings, err := selector.ParseShards(`shardRange(object.metadata.namespace, "0x0", "0x8000000000000000")`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shards)
	fmt.Println(warnings)
	fmt.Println(shards.Matches("", "staging"), shards.Matches("", "default"))
	// Output:
	// shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')
	// [shardSelector: Kubernetes 1.37 refuses the bound '0x0', write '0x0000000000000000']
	// true false
}
