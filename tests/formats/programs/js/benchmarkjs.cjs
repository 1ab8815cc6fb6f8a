const Benchmark = require('benchmark')
const words = Array.from({length: 200}, (_, i) => String((i * 7919) % 211))
new Benchmark.Suite('s', {}).add('sort#strings', () => { [...words].sort() }, {maxTime: 0.5}).add('join', () => { words.join(',') }, {maxTime: 0.5}).add('fails', () => { throw new Error('x') })
.on('cycle', e => console.log(String(e.target))).on('complete', function () { console.log('Fastest is ' + this.filter('fastest').map('name')) }).run()
