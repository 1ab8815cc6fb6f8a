import { bench, describe } from 'vitest'
const words = Array.from({length: 200}, (_, i) => String((i * 7919) % 211))
describe('sort', () => {
  bench('strings', () => { [...words].sort() }, { time: 20, iterations: 5, warmupTime: 5 })
  bench('numbers', () => { words.map(Number).sort((a, b) => a - b) }, { time: 20, iterations: 5, warmupTime: 5 })
})
describe('join', () => {
  bench('comma', () => { words.join(',') }, { time: 5, iterations: 5, warmupTime: 2 })
})
