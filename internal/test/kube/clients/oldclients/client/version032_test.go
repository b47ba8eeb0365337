//go:build client032

package client

import coordinationv1 "k8s.io/api/coordination/v1"

// candidateForm is the API version and the media type in which client-go 0.32 writes candidates.
const candidateForm = "v1alpha2 application/vnd.kubernetes.protobuf"

const strategy = coordinationv1.OldestEmulationVersion
