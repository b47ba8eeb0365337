package openapi

import (
	"maps"
	"reflect"

	"github.com/kubecoord/kubecoord/store/meta"
)

// This file holds the parts of definitions that cannot be derived from Go types and tags:
// descriptions, and restrictions that only validation knows. Only the kinds of this module
// have descriptions.

// notes describe a definition.
type notes struct {
	text   string
	fields map[string]note
}

// note describes a member.
type note struct {
	text     string
	required bool
	enum     []string // sorted
}

const (
	noteKind       = "The type of the object in CamelCase. Cannot be changed; a request may leave it out where its path tells."
	noteAPIVersion = "The group and the version of the type, as \"group/version\", or just the version for the core group."
)

// commonNote returns the description of a member that all kinds have, or "".
func commonNote(name string, goType reflect.Type) string {
	switch {
	case goType == reflect.TypeFor[meta.ObjectMeta]():
		return "Name, namespace, labels and all else that objects of every kind have."
	case goType == reflect.TypeFor[string]() && name == "kind":
		return noteKind
	case goType == reflect.TypeFor[string]() && name == "apiVersion":
		return noteAPIVersion
	}
	return ""
}

// words returns the notes by the names of the definitions.
func words() map[string]notes {
	all := metaWords()
	maps.Copy(all, leaseWords())
	for _, version := range []string{"v1alpha1", "v1alpha2", "v1beta1"} {
		maps.Copy(all, candidateWords(version))
	}
	maps.Copy(all, endpointsWords())
	return all
}

func leaseWords() map[string]notes {
	const prefix = "io.k8s.api.coordination.v1."
	return map[string]notes{
		prefix + "Lease": {
			text:   "A record of who holds something, since when, and for how long without a renewal.",
			fields: map[string]note{"spec": {text: "The content of the lease. There is no status."}},
		},
		prefix + "LeaseSpec": {
			text: "The content of a Lease.",
			fields: map[string]note{
				"holderIdentity":       {text: "Who holds the lease, in the holders' own words; empty after the last one let go. Under a strategy it is the name of the elected LeaseCandidate."},
				"leaseDurationSeconds": {text: "How long others have to wait after renewTime before they may take the lease, in seconds. At least 1."},
				"acquireTime":          {text: "When the present holder got the lease."},
				"renewTime":            {text: "When the holder last confirmed that it is still there."},
				"leaseTransitions":     {text: "How often the lease went from one holder to another. At least 0."},
				"strategy":             {text: "How a coordinator picks the holder among the LeaseCandidates: OldestEmulationVersion, or a qualified name such as \"example.com/newest\". Without it the holders settle it between them."},
				"preferredHolder":      {text: "Asks the holder to let the lease expire in favour of another one. Needs a strategy."},
			},
		},
	}
}

func candidateWords(version string) map[string]notes {
	prefix := "io.k8s.api.coordination." + version + "."
	fields := map[string]note{
		"leaseName":        {text: "The lease of the same namespace that the candidate would hold. Cannot be changed."},
		"pingTime":         {text: "When the coordinator last asked for a sign of life. The candidate answers with a later renewTime."},
		"renewTime":        {text: "When the candidate last said that it is there. Candidates that were silent for 30 minutes are passed over."},
		"binaryVersion":    {text: "The version of the candidate's program in the strict form of SemVer 2, such as \"1.36.0\". Not lower than emulationVersion."},
		"emulationVersion": {text: "The version that the program behaves like, in the same form. Required under the strategy OldestEmulationVersion."},
	}
	if version == "v1alpha1" {
		fields["preferredStrategies"] = note{text: "How the candidate wants the holder to be picked, the most wanted strategy first. At least one."}
	} else {
		fields["strategy"] = note{required: true, text: "How the candidate wants the holder to be picked: OldestEmulationVersion, or a qualified name. Where candidates disagree, those of the highest binaryVersion decide."}
	}
	return map[string]notes{
		prefix + "LeaseCandidate": {
			text:   "An offer to hold a lease, with the versions by which a coordinator picks the holder.",
			fields: map[string]note{"spec": {required: version != "v1alpha1", text: "The content of the candidate. There is no status."}},
		},
		prefix + "LeaseCandidateSpec": {text: "The content of a LeaseCandidate.", fields: fields},
	}
}

func endpointsWords() map[string]notes {
	const prefix = "io.k8s.api.core.v1."
	return map[string]notes{
		prefix + "Endpoints": {
			text:   "The addresses and ports behind the service of the same name. Deprecated since v1.33 in favour of EndpointSlice.",
			fields: map[string]note{"subsets": {text: "All endpoints: each subset stands for each of its addresses with each of its ports."}},
		},
		prefix + "EndpointSubset": {
			text: "Addresses that offer the same ports.",
			fields: map[string]note{
				"addresses":         {text: "Addresses that are ready to serve. This or notReadyAddresses must have an item."},
				"notReadyAddresses": {text: "Addresses that should not be used now: they start up, shut down, or failed a check."},
				"ports":             {text: "The ports. None is fine where only the addresses matter."},
			},
		},
		prefix + "EndpointAddress": {
			text: "One IP address and what is behind it.",
			fields: map[string]note{
				"ip":        {text: "An IPv4 or IPv6 address; not unspecified, loopback, link-local, or link-local multicast."},
				"hostname":  {text: "Host name of the endpoint, a DNS label."},
				"nodeName":  {text: "The node that the endpoint runs on, if known."},
				"targetRef": {text: "The object behind the address, usually a Pod."},
			},
		},
		prefix + "EndpointPort": {
			text: "One port that all addresses of a subset offer.",
			fields: map[string]note{
				"name":        {text: "Name of the port, a DNS label. Required where there is more than one port."},
				"port":        {text: "The number, 1 to 65535."},
				"protocol":    {text: "The transport protocol. Default: TCP.", enum: []string{"SCTP", "TCP", "UDP"}},
				"appProtocol": {text: "The application's protocol, such as \"https\" or \"kubernetes.io/h2c\", if known."},
			},
		},
		prefix + "ObjectReference": {
			text: "Points to an object, or to a part of one. Nothing in it is checked.",
			fields: map[string]note{
				"kind":            {text: "The kind of the object."},
				"namespace":       {text: "The namespace of the object."},
				"name":            {text: "The name of the object."},
				"uid":             {text: "Tells the object from others that had its name."},
				"apiVersion":      {text: "The group and the version of the kind."},
				"resourceVersion": {text: "The state of the object that is meant."},
				"fieldPath":       {text: "The part of the object that is meant, such as \"spec.containers{web}\"."},
			},
		},
	}
}

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
