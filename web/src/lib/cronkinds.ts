// SPDX-License-Identifier: Apache-2.0
// Simple kinds of a schedule, and the cron expression that each is. What a cron expression means
// is computed by the server; here only these few shapes are written, and known again.
export type Simple =
  | {kind: 'every', n: number, unit: 'second' | 'minute' | 'hour'}
  | {kind: 'daily', time: string}
  | {kind: 'weekly', time: string, days: string[]}
  | {kind: 'monthly', time: string, day: string} // 1 to 31, or L: the last

export const WEEKDAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN']
/** Only what divides the next larger unit: else the last step of each hour is shorter. */
export const STEPS = {second: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30], minute: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30], hour: [1, 2, 3, 4, 6, 8, 12]}

/** 07:30 or 07:30:15 as the first three fields; what is no time is midnight. */
function fieldsOf(time: string): string {
  const found = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(time)
  return found ? `${Number(found[3] ?? 0)} ${Number(found[2])} ${Number(found[1])}` : '0 0 0'
}

export function cronOf(s: Simple): string {
  switch (s.kind) {
    case 'every': return {second: `0/${s.n} * * * * ?`, minute: `0 0/${s.n} * * * ?`, hour: `0 0 0/${s.n} * * ?`}[s.unit]
    case 'daily': return `${fieldsOf(s.time)} * * ?`
    case 'weekly': return `${fieldsOf(s.time)} ? * ${WEEKDAYS.filter(d => s.days.includes(d)).join(',') || 'MON'}`
    case 'monthly': return `${fieldsOf(s.time)} ${s.day} * ?`
  }
}

const two = (text: string) => text.padStart(2, '0')

/** The simple kind that this expression is, or undefined: then it stays cron. */
export function simpleOf(conf: string): Simple | undefined {
  const fields = conf.trim().toUpperCase().split(/\s+/)
  const [s = '', m = '', h = '', day = '', month = '', week = ''] = fields
  if (fields.length !== 6 || month !== '*') return undefined
  const every = (['second', 'minute', 'hour'] as const).map((unit, i) => {
    const step = /^(?:0|\*)\/(\d{1,2})$/.exec(fields[i]!)
    const rest = fields.slice(0, 3).every((f, at) => at === i || f === (at < i ? '0' : '*'))
    return step && rest && STEPS[unit].includes(Number(step[1])) ? {kind: 'every' as const, n: Number(step[1]), unit} : undefined
  }).find(Boolean)
  if (every) return day === '*' && week === '?' ? every : undefined
  if (![s, m, h].every(f => /^\d{1,2}$/.test(f)) || Number(h) > 23 || Number(m) > 59 || Number(s) > 59) return undefined
  const time = `${two(h)}:${two(m)}` + (Number(s) ? ':' + two(s) : '')
  if (day === '*' && week === '?') return {kind: 'daily', time}
  if ((day === '?' || day === '*') && week !== '?') {
    const days = week.split(',')
    return days.every(d => WEEKDAYS.includes(d)) && day === '?' ? {kind: 'weekly', time, days} : undefined
  }
  return week === '?' && /^(?:[1-9]|[12]\d|3[01]|L)$/.test(day) ? {kind: 'monthly', time, day} : undefined
}

/** When the tries of a run come, in ms from its first: with retries, delay and back-off of the job. */
export function triesOf(retries: number, delayMs: number, backoff: number): number[] {
  const out = [0]
  let delay = delayMs
  for (let i = 0; i < Math.min(retries, 5); i++) {
    out.push(out.at(-1)! + delay)
    delay *= backoff
  }
  return out
}
