// SPDX-License-Identifier: Apache-2.0
// How often a job fires in each hour of the day that begins with its next firing. The server says
// when it fires; of a job that fires more often than a list holds, it says in which hours.
import type {Schemas} from './http'

type Fire = Schemas['Fire']
type Day = Schemas['Preview']['calendar'][number]
export const HOUR = 3600000, DAY = 24 * HOUR
const hourOf = (fire: Fire) => Number(fire.local.slice(11, 13))

/** Counted, if these firings go on for a day. */
export function countedHours(fires: Fire[]): number[] | undefined {
  const from = fires[0]?.ms ?? 0
  if (fires.length <= 2 || fires.at(-1)!.ms - from < DAY) return undefined
  const out = new Array<number>(24).fill(0)
  for (const fire of fires) if (fire.ms < from + DAY) out[hourOf(fire)]!++
  return out
}

/** The expression that fires once in each hour in which this one fires. */
export function hourlyOf(conf: string): string | undefined {
  const fields = conf.trim().split(/\s+/)
  return fields.length === 6 || fields.length === 7 ? ['0', '0', ...fields.slice(2)].join(' ') : undefined
}

/** Minutes and seconds of an expression are the same in all its hours: a day's firings, shared by
 * the hours in which `hourly`, the expression once an hour, fires. */
export function sharedHours(from: number, calendar: Day[], hourly: {fires: Fire[], calendar: Day[]}): number[] | undefined {
  const counts = new Map(calendar.map(d => [d.day, d.count]))
  // A day on which the clock changes, and the one that has begun, are not like the others.
  const day = hourly.calendar.slice(1).find(d => d.count && !d.marks?.length && counts.get(d.day))
  if (!day) return undefined
  const out = new Array<number>(24).fill(0)
  for (const fire of hourly.fires) if (fire.ms > from - HOUR && fire.ms < from + DAY) out[hourOf(fire)] = Math.round(counts.get(day.day)! / day.count)
  return out
}

/** Of one that fires at the same pace all day. */
export function evenHours(periodMs: number): number[] | undefined {
  return periodMs > 0 ? new Array<number>(24).fill(Math.round(HOUR / periodMs)) : undefined
}
