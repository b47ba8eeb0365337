package wiretest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// protoField is one field of a message.
type protoField struct {
	number   int
	name     string
	typ      string // string, int, bool, time, micro, map, json or the name of a message
	repeated bool
	optional bool // presence is meaningful
}

// protoMessages returns the fields of each message that is compared, parsed at the first call. They are the numbers of the
// generated.proto files of k8s.io/api and k8s.io/apimachinery.
var protoMessages = sync.OnceValue(func() map[string][]protoField {
	return parseMessages(`
Lease: 1 metadata ObjectMeta, 2 spec LeaseSpec
LeaseSpec: 1 holderIdentity string?, 2 leaseDurationSeconds int?, 3 acquireTime micro?, 4 renewTime micro?, 5 leaseTransitions int?, 6 strategy string?, 7 preferredHolder string?
LeaseCandidate: 1 metadata ObjectMeta, 2 spec LeaseCandidateSpec
LeaseCandidateSpec: 1 leaseName string, 2 pingTime micro?, 3 renewTime micro?, 4 binaryVersion string, 5 emulationVersion string, 6 strategy string
Endpoints: 1 metadata ObjectMeta, 2 subsets EndpointSubset*
EndpointSubset: 1 addresses EndpointAddress*, 2 notReadyAddresses EndpointAddress*, 3 ports EndpointPort*
EndpointAddress: 1 ip string, 2 targetRef ObjectReference?, 3 hostname string, 4 nodeName string?
EndpointPort: 1 name string, 2 port int, 3 protocol string, 4 appProtocol string?
ObjectReference: 1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string, 6 resourceVersion string, 7 fieldPath string
LeaseList: 1 metadata ListMeta, 2 items Lease*
LeaseCandidateList: 1 metadata ListMeta, 2 items LeaseCandidate*
EndpointsList: 1 metadata ListMeta, 2 items Endpoints*
ListMeta: 1 selfLink string, 2 resourceVersion string, 3 continue string, 4 remainingItemCount int?
ObjectMeta: 1 name string, 2 generateName string, 3 namespace string, 4 selfLink string, 5 uid string, 6 resourceVersion string, 7 generation int, 8 creationTimestamp time, 9 deletionTimestamp time?, 10 deletionGracePeriodSeconds int?, 11 labels map, 12 annotations map, 13 ownerReferences OwnerReference*, 14 finalizers string*, 17 managedFields ManagedFieldsEntry*
OwnerReference: 1 kind string, 3 name string, 4 uid string, 5 apiVersion string, 6 controller bool?, 7 blockOwnerDeletion bool?
ManagedFieldsEntry: 1 manager string, 2 operation string, 3 apiVersion string, 4 time time?, 6 fieldsType string, 7 fieldsV1 json, 8 subresource string
Status: 1 metadata ListMeta, 2 status string, 3 message string, 4 reason string, 5 details StatusDetails?, 6 code int
StatusDetails: 1 name string, 2 group string, 3 kind string, 4 causes StatusCause*, 5 retryAfterSeconds int, 6 uid string
StatusCause: 1 reason string, 2 message string, 3 field string
DeleteOptions: 1 gracePeriodSeconds int?, 2 preconditions Preconditions?, 3 orphanDependents bool?, 4 propagationPolicy string?, 5 dryRun string*
Preconditions: 1 uid string?, 2 resourceVersion string?
PartialObjectMetadata: 1 metadata ObjectMeta
PartialObjectMetadataList: 1 metadata ListMeta, 2 items PartialObjectMetadata*
`)
})

// parseMessages reads lines of "Message: number name type, ...", where a type may end in ? for optional and * for repeated.
// It panics on a mistake in them.
func parseMessages(text string) map[string][]protoField {
	messages := map[string][]protoField{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		message, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for field := range strings.SplitSeq(list, ", ") {
			words := strings.Fields(field)
			number, err := strconv.Atoi(words[0])
			if err != nil {
				panic(fmt.Sprintf("wiretest: message %s: %v", message, err))
			}
			messages[message] = append(messages[message], protoField{
				number:   number,
				name:     words[1],
				typ:      strings.TrimRight(words[2], "?*"),
				optional: strings.HasSuffix(words[2], "?"),
				repeated: strings.HasSuffix(words[2], "*"),
			})
		}
	}
	return messages
}

// messageFields returns the fields of a message by its name.
func messageFields(name string) ([]protoField, error) {
	fields, ok := protoMessages()[name]
	if !ok {
		return nil, fmt.Errorf("no description of message %q", name)
	}
	return fields, nil
}
