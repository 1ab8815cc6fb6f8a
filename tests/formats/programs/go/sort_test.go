// For go test -bench: several units a line, one of its own, a benchmark that fails once, one that logs and prints.
package sorting

import (
	"fmt"
	"sort"
	"testing"
)

func BenchmarkSort(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.SetBytes(int64(8 * n))
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				numbers := make([]int, n)
				for j := range numbers {
					numbers[j] = (j * 7919) % 1009
				}
				sort.Ints(numbers)
			}
		})
	}
}

func BenchmarkMetric(b *testing.B) {
	for i := 0; i < b.N; i++ {
	}
	b.ReportMetric(12.5, "p99-ns")
	b.ReportMetric(3, "hits/op")
}

var tries int

func BenchmarkFails(b *testing.B) {
	tries++
	if tries == 2 {
		b.Fatal("lost")
	}
	for i := 0; i < b.N; i++ {
	}
}

func BenchmarkLogs(b *testing.B) {
	b.Log("warming")
	fmt.Println("noise: here")
	for i := 0; i < b.N; i++ {
	}
}
