package inner

import "testing"

func BenchmarkSort(b *testing.B) {
	sum := 0
	for i := 0; i < b.N; i++ {
		sum += i
	}
	_ = sum
}
