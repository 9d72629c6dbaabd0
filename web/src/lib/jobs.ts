// SPDX-License-Identifier: Apache-2.0
// What screens say and do of jobs.
import {simpleOf, WEEKDAYS} from './cronkinds'
import {display} from './display'
import {whyOf} from './errors'
import {call, Problem, type Schemas} from './http'
import {t} from './i18n'
import {stale} from './query'
import {toast} from './toasts'
import {spanOf, whenOf} from './time'

export type Job = Schemas['Job']

/** Between two firings of FIX_RATE, or from an end to the next of FIX_DELAY; NaN of others. */
export function periodOf(schedule: Schemas['Schedule']): number {
  const conf = schedule.conf ?? ''
  return /ms$/.test(conf) ? Number.parseInt(conf) : Number(conf) * 1000
}

/** The schedule in a few words. Cron stays as it is written: its sentence comes from the server. */
export function scheduleOf(schedule: Schemas['Schedule']): string {
  const conf = schedule.conf ?? '', ms = periodOf(schedule)
  switch (schedule.type) {
    case 'NONE': return t('jobs.by_hand')
    case 'FIX_RATE': return t('jobs.every', {span: Number.isFinite(ms) ? spanOf(ms) : conf})
    case 'FIX_DELAY': return t('jobs.delay', {span: Number.isFinite(ms) ? spanOf(ms) : conf})
    case 'ONCE': return t('jobs.once', {at: Number.isNaN(Date.parse(conf)) ? conf : whenOf(Date.parse(conf))})
    default: return conf
  }
}

/** The same of cron too, if it is one of the few shapes that the form writes; undefined: only the server has words for it. */
export function wordsOf(schedule: Schemas['Schedule']): string | undefined {
  if (schedule.type !== 'CRON') return scheduleOf(schedule)
  const simple = simpleOf(schedule.conf ?? '')
  switch (simple?.kind) {
    case 'every': return t('jobs.every', {span: spanOf(simple.n * {second: 1000, minute: 60000, hour: 3600000}[simple.unit])})
    case 'daily': return t('jobs.daily', {time: simple.time})
    case 'weekly': {
      const name = new Intl.DateTimeFormat(display.language, {weekday: 'short', timeZone: 'UTC'})
      const days = WEEKDAYS.flatMap((day, i) => simple.days.includes(day) ? [name.format(Date.UTC(2024, 0, 1 + i))] : [])
      return t('jobs.weekly', {days: new Intl.ListFormat(display.language, {style: 'narrow'}).format(days), time: simple.time})
    }
    case 'monthly': return t('jobs.monthly', {day: simple.day, time: simple.time})
    default: return undefined
  }
}

export function stateOf(job: Job): 'scheduled' | 'stopped' | 'stopped_by_center' {
  return job.state === 'stopped' && job.stopReason ? 'stopped_by_center' : job.state
}

export function consequencesText(c: Schemas['Consequences']): string {
  return t('consequences', {firings: c.firingsWithdrawn ?? 0, retries: c.retriesWithdrawn ?? 0, open: c.openRuns ?? 0, day: c.firings24h ?? 0})
}

/** Start or stop, and offer the opposite. */
export async function setScheduled(job: Job, scheduled: boolean): Promise<void> {
  try {
    await call('POST', `/jobs/${job.id}/${scheduled ? 'start' : 'stop'}`, {body: scheduled ? undefined : {}})
  } catch (e) { // a stop stands in a dialog, which shows it; a start has no place of its own
    if (!(e instanceof Problem) || !scheduled) throw e
    toast(t('job.not_started', {name: job.name, why: whyOf(e)}))
    return
  }
  stale('/jobs')
  toast(t(scheduled ? 'job.started' : 'job.stopped', {name: job.name}), {text: t('job.undo'), run: async () => {
    await call('POST', `/jobs/${job.id}/${scheduled ? 'stop' : 'start'}`, {body: scheduled ? {} : undefined})
    stale('/jobs')
  }})
}
