package validate

import "strings"

// ConfigMapKey says what keeps a value from being a key of a ConfigMap, which is also the rule for names of lease
// candidates: at most 253 bytes, no directory called "." or ".." and nothing that starts like one (apimachinery,
// util/validation IsConfigMapKey).
func ConfigMapKey(value string) []string {
	var problems []string
	if len(value) > maxSubdomain {
		problems = append(problems, maxCharacters(maxSubdomain))
	}
	if !isConfigKey(value) {
		problems = append(problems, patternError(configKeyText, configKeyPattern, "key.name", "KEY_NAME", "key-name"))
	}
	switch {
	case value == "." || value == "..":
		problems = append(problems, "must not be '"+value+"'")
	case strings.HasPrefix(value, ".."):
		problems = append(problems, "must not start with '..'")
	}
	return problems
}

func isConfigKey(value string) bool {
	for i := range len(value) {
		if !isKeyByte(value[i]) {
			return false
		}
	}
	return value != ""
}
