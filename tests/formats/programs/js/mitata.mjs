import { run, bench, group } from 'mitata'
const words = Array.from({length: 200}, (_, i) => String((i * 7919) % 211))
group('sorting', () => {
bench('sort($n)', function* (state) { const n = state.get('n'); yield () => [...words.slice(0, n)].sort() }).args('n', [10, 200])
bench('join', () => words.join(','))
})
bench('fails', () => { throw new Error('x') })
await run({ format: 'json', throw: false })
