package meta

// ListMeta is the metadata of a list, as in the API reference section
// "ListMeta".
type ListMeta struct {
	SelfLink string `json:"selfLink,omitempty" protobuf:"1"`
	// ResourceVersion is the version at which the whole list was true.
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"2"`
	// Continue is the token for the next page, empty on the last one.
	Continue string `json:"continue,omitempty" protobuf:"3"`
	// RemainingItemCount is how many items follow this page; absent where a
	// selector makes that unknown.
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty" protobuf:"4"`
	// ShardInfo tells which shard the list was narrowed to.
	ShardInfo *ShardInfo `json:"shardInfo,omitempty" protobuf:"5"`
}

// ShardInfo repeats the shardSelector of a list in its canonical form.
type ShardInfo struct {
	Selector string `json:"selector" protobuf:"1"`
}
