package validate

// PortNumber says what keeps a number from being a TCP or UDP port that can be connected to: 1 to 65535 (apimachinery,
// util/validation IsValidPortNum).
func PortNumber(port int) []string {
	if 1 <= port && port <= 65535 {
		return nil
	}
	return []string{"must be between 1 and 65535, inclusive"}
}
