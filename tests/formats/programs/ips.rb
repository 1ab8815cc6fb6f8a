require "benchmark/ips"

Benchmark.ips do |x|
  x.config(time: 0.3, warmup: 0.1)
  x.report("addition") { 1 + 2 }
  x.report("sort an array of numbers") { [3, 1, 2].sort }
  x.report("réversé") { "abc".reverse }
  x.report("fails") { raise "no device" } if ARGV[0] == "fails"
  x.compare!
  x.json! "ips.json"
end
