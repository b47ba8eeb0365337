package crd
import (
 _ "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
 _ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
 _ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
 _ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
 _ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
 _ "k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
 _ "k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
 _ "k8s.io/client-go/kubernetes/scheme"
 _ "k8s.io/client-go/rest"
 _ "github.com/stretchr/testify/require"
)
