package openapi

// metaWords returns the notes about the types of package meta.
func metaWords() map[string]notes {
	return map[string]notes{
		metaPrefix + "ObjectMeta": {
			text: "What objects of every kind have. The server owns uid, resourceVersion, generation, the timestamps, deletionGracePeriodSeconds and selfLink.",
			fields: map[string]note{
				"name":                       {text: "Unique in the namespace for one kind. Cannot be changed."},
				"generateName":               {text: "The prefix of a name that the server makes unique with five random characters. Used where name is empty on create."},
				"namespace":                  {text: "The namespace that the object lives in. Cannot be changed."},
				"selfLink":                   {text: "Not used any more; dropped on every write."},
				"uid":                        {text: "Tells the object from others that had its name: a random UUID, assigned on create. In an update it is a precondition."},
				"resourceVersion":            {text: "The version of the last change to the object. In an update it is a precondition, and a watch or a list can start from it."},
				"generation":                 {text: "Counts changes of the desired state, for kinds that count them."},
				"creationTimestamp":          {text: "The server's time of the create."},
				"deletionTimestamp":          {text: "When the object was asked to go while finalizers still held it. Only the server sets it."},
				"deletionGracePeriodSeconds": {text: "How long the object had to go in good order, in seconds. Set together with deletionTimestamp."},
				"labels":                     {text: "Keys and values that objects can be selected by. Keys are qualified names, values have at most 63 bytes."},
				"annotations":                {text: "Keys and values for tools. They cannot be selected by, and hold at most 256 KiB together."},
				"ownerReferences":            {text: "The objects that this one depends on, at most one of them as the managing controller."},
				"finalizers":                 {text: "Names of those who hold the object back from deletion, until each is removed."},
				"managedFields":              {text: "Which manager set which fields. Kept by the server."},
			},
		},
		metaPrefix + "OwnerReference": {
			text: "Points to an object of the same namespace that owns another.",
			fields: map[string]note{
				"apiVersion":         {text: "The group and the version of the owner's kind."},
				"kind":               {text: "The kind of the owner."},
				"name":               {text: "The name of the owner."},
				"uid":                {text: "The uid of the owner."},
				"controller":         {text: "Marks the one reference that points to the managing controller."},
				"blockOwnerDeletion": {text: "Keeps the owner from foreground deletion while this object is there."},
			},
		},
		metaPrefix + "ManagedFieldsEntry": {
			text: "The fields that one manager owns through one operation.",
			fields: map[string]note{
				"manager":     {text: "The name of the manager."},
				"operation":   {text: "Apply or Update."},
				"apiVersion":  {text: "The group version in whose shape the fields are named."},
				"time":        {text: "When the entry was last changed."},
				"fieldsType":  {text: "The format of the fields: FieldsV1."},
				"fieldsV1":    {text: "The fields."},
				"subresource": {text: "The subresource that was written to, if any."},
			},
		},
		metaPrefix + "ListMeta": {
			text: "The metadata of a list.",
			fields: map[string]note{
				"selfLink":           {text: "Not used any more."},
				"resourceVersion":    {text: "The version at which the whole list was true. A watch can start from it."},
				"continue":           {text: "The token for the next page; absent on the last one."},
				"remainingItemCount": {text: "How many items follow this page; absent where a selector makes that unknown."},
				"shardInfo":          {text: "The shard that the list was narrowed to."},
			},
		},
		metaPrefix + "ShardInfo": {
			text:   "The shard that a list was narrowed to.",
			fields: map[string]note{"selector": {text: "The shardSelector in its canonical form."}},
		},
		metaPrefix + "Status": {
			text: "The answer where there is no object to answer with: every failure, and a deletion that is done.",
			fields: map[string]note{
				"metadata": {text: "Empty but for the token of a page that expired."},
				"status":   {text: "Success or Failure."},
				"message":  {text: "What happened, for people."},
				"reason":   {text: "What happened, for programs, such as NotFound or Conflict."},
				"details":  {text: "What it is about."},
				"code":     {text: "The HTTP status code."},
			},
		},
		metaPrefix + "StatusDetails": {
			text: "What a Status is about.",
			fields: map[string]note{
				"name":              {text: "The name of the object."},
				"group":             {text: "The group of the object."},
				"kind":              {text: "The resource in most answers, the kind in those about invalid objects."},
				"uid":               {text: "The uid of the object."},
				"causes":            {text: "The problems, where there may be several."},
				"retryAfterSeconds": {text: "How long to wait before another try, in seconds."},
			},
		},
		metaPrefix + "StatusCause": {
			text: "One problem among several.",
			fields: map[string]note{
				"reason":  {text: "What is wrong, for programs."},
				"message": {text: "What is wrong, for people."},
				"field":   {text: "The path of the member that is wrong, such as \"spec.leaseDurationSeconds\"."},
			},
		},
		metaPrefix + "DeleteOptions": {
			text: "How to delete.",
			fields: map[string]note{
				"gracePeriodSeconds": {text: "How long the object has to go in good order, in seconds. No effect on kinds without graceful deletion."},
				"preconditions":      {text: "What must hold, or the deletion is a conflict."},
				"orphanDependents":   {text: "The old form of propagationPolicy: true keeps the dependents. Only one of the two may be set."},
				"propagationPolicy":  {text: "What happens to the dependents: Orphan, Background or Foreground."},
				"dryRun":             {text: "All: everything is done but the deletion."},
				"ignoreStoreReadErrorWithClusterBreakingPotential": {text: "Deletes objects that can no longer be read, and only those."},
			},
		},
		metaPrefix + "Preconditions": {
			text: "What must hold for an operation to be carried out.",
			fields: map[string]note{
				"uid":             {text: "The uid that the object must have."},
				"resourceVersion": {text: "The resourceVersion that the object must have."},
			},
		},
	}
}
