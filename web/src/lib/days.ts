// SPDX-License-Identifier: Apache-2.0
// Days by name, 2026-11-22, without clocks and zones: steps between them are whole days.
const DAY = 86400000

export const dayNumber = (day: string): number => Date.parse(day + 'T00:00:00Z') / DAY
export const dayName = (number: number): string => new Date(number * DAY).toISOString().slice(0, 10)

/** The last `count` days that end with `last`, with zeros where nothing is known of a day. */
export function fillDays<T extends {day: string}>(known: T[], last: string, count: number, none: (day: string) => T): T[] {
  const by = new Map(known.map(d => [d.day, d]))
  const end = Math.max(dayNumber(last), ...known.map(d => dayNumber(d.day)))
  return Array.from({length: count}, (_, i) => dayName(end - count + 1 + i)).map(day => by.get(day) ?? none(day))
}
