// SPDX-License-Identifier: Apache-2.0
// Seconds in which many jobs fire: those that are full of the same jobs are one, with its times.
import type {Schemas} from './http'

type Second = Schemas['Forecast']['peaks'][number]
export interface Peak {
  count: number
  jobs: Second['jobs']
  times: number[]
  everyMs?: number // if there are three at least, as far from each other
}

export function peaksOf(seconds: Second[]): Peak[] {
  const out = new Map<string, Peak>()
  for (const s of [...seconds].filter(x => x.count > 1).sort((a, b) => a.atMs - b.atMs)) {
    const key = [s.count, ...s.jobs.map(j => j.id)].join()
    const peak = out.get(key)
    if (peak) peak.times.push(s.atMs)
    else out.set(key, {count: s.count, jobs: s.jobs, times: [s.atMs]})
  }
  for (const peak of out.values()) {
    const [first = 0, second = 0] = peak.times
    if (peak.times.length > 2 && peak.times.every((at, i) => at === first + i * (second - first))) peak.everyMs = second - first
  }
  return [...out.values()]
}
