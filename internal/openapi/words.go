package openapi

import (
	"maps"
	"reflect"

	"github.com/kubecoord/kubecoord/store/meta"
)

// This file holds what Go types and their tags do not tell of the definitions:
// descriptions, and the few members that are required or limited to some values
// by rules of the kind alone. Kinds that are not in it are served without.

// notes are what there is to say of one definition.
type notes struct {
	text   string
	fields map[string]note
}

// note is what there is to say of one member.
type note struct {
	text     string
	required bool
	enum     []string // sorted
}

const (
	noteKind       = "The type of the object in CamelCase. Cannot be changed; a request may leave it out where its path tells."
	noteAPIVersion = "The group and the version of the type, as \"group/version\", or just the version for the core group."
)

// commonNote describes the members that all kinds have.
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

// words returns the notes by the names of definitions.
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
