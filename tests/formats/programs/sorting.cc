// For Google Benchmark: arguments with and without a name, errors, a fitted complexity, several units.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

static void Sort(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<int> numbers(state.range(0));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = (i * 7919) % 1009;
    std::sort(numbers.begin(), numbers.end());
    benchmark::DoNotOptimize(numbers.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(Sort)->ArgName("n")->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond)->Repetitions(3);
BENCHMARK(Sort)->Name("Grow")->RangeMultiplier(4)->Range(16, 256)->Complexity();

static void Copy(benchmark::State& state) {
  std::string text(256, 'x');
  for (auto _ : state) {
    std::string copy(text);
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(Copy)->Repetitions(4)->Unit(benchmark::kMillisecond);

static void Broken(benchmark::State& state) {
  state.SkipWithError("no \"device\"");
  for (auto _ : state) {
  }
}
BENCHMARK(Broken);

static void Sometimes(benchmark::State& state) {
  static int calls = 0;
  if (calls++ == 1) state.SkipWithError("lost");
  for (auto _ : state) {
  }
}
BENCHMARK(Sometimes)->Iterations(1000)->Repetitions(3);
BENCHMARK_MAIN();
