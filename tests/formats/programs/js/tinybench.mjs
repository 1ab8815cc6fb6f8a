import { Bench } from 'tinybench'
import fs from 'fs'
const bench = new Bench({ name: 'sorting', time: 20, iterations: 5, warmupTime: 5 })
const words = Array.from({length: 200}, (_, i) => String((i * 7919) % 211))
bench.add('strings', () => { [...words].sort() }).add('join', () => { words.join(',') }).add('fails', () => { throw new Error('x') })
await bench.run()
fs.writeFileSync('tinybench.json', JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })), null, 1))
