package plugins

// Names returns the names of all plugins of a server, here and in package admission, in the order of a real server (upstream:
// kubeapiserver/options, AllOrderedPlugins). PodGroupProtection, PodGroupWorkloadExists and JobValidation have nothing to do: the feature
// gates that they are for are off.
func Names() []string {
	return []string{
		"NamespaceLifecycle", "LimitRanger", "TaintNodesByCondition", "Priority",
		"DefaultTolerationSeconds", "DefaultStorageClass", "StorageObjectInUseProtection", "PodGroupProtection",
		"PersistentVolumeClaimResize", "RuntimeClass",
		"DefaultIngressClass", "PodGroupWorkloadExists",
		"JobValidation", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
	}
}
