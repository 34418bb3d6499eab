package testkit

import "os"

// FullEnv is the environment variable that asks tests for all that they can try.
const FullEnv = "DPTRAIN_TEST_FULL"

// Full reports whether tests are to try all combinations and repetitions, as scripts/long.sh does. Otherwise, they try a part
// of them that takes a second or two and in which each kind of fault still fails.
func Full() bool {
	return os.Getenv(FullEnv) != ""
}

// Size returns full if tests are to try everything, and usual otherwise.
func Size(usual, full int) int {
	if Full() {
		return full
	}
	return usual
}
