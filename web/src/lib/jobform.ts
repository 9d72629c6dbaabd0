// SPDX-License-Identifier: Apache-2.0
// The form of a job: flat texts and numbers as they are typed, to and from the job of the API.
import type {Schemas} from './http'

export interface Form {
  name: string, groupId: number, owner: string, emails: string
  type: Schemas['ScheduleType'], conf: string, zone: string, dst: 'xxl' | 'smart'
  misfire: 'DO_NOTHING' | 'FIRE_ONCE_NOW' | 'FIRE_ALL', misfireMax: number
  kind: Schemas['Task']['kind'], handler: string, param: string, script: string
  route: string, block: string, timeoutS: number, retries: number, retryDelayMs: number, retryBackoff: number
  startDeadlineMs: number | '', onUnknown: 'wait' | 'resend', children: string
}

/** The keys of the fields' names, as the form's labels have them. */
export const FIELD_LABELS: Partial<Record<keyof Form, string>> = {
  name: 'form.name', groupId: 'form.group', owner: 'form.owner', emails: 'form.emails', type: 'form.type', conf: 'form.conf.CRON', zone: 'form.zone', dst: 'form.dst', misfire: 'form.misfire', misfireMax: 'form.misfire_max',
  kind: 'form.task_kind', handler: 'form.handler', param: 'form.param', route: 'form.route', block: 'form.block', timeoutS: 'form.timeout', retries: 'form.retries', retryDelayMs: 'form.retry_delay', retryBackoff: 'form.backoff',
  startDeadlineMs: 'form.deadline', onUnknown: 'form.unknown', children: 'form.children',
}

export function emptyForm(owner: string): Form {
  return {
    name: '', groupId: 0, owner, emails: '', type: 'CRON', conf: '', zone: '', dst: 'xxl', misfire: 'DO_NOTHING', misfireMax: 100,
    kind: 'BEAN', handler: '', param: '', script: '', route: 'ROUND', block: 'SERIAL_EXECUTION', timeoutS: 0, retries: 0, retryDelayMs: 5000, retryBackoff: 1,
    startDeadlineMs: '', onUnknown: 'wait', children: '',
  }
}

export function formOf(job: Schemas['Job']): Form {
  const {schedule: s, task, running: r} = job
  return {
    name: job.name, groupId: job.group.id, owner: job.owner, emails: (job.alarmEmails ?? []).join(', '),
    type: s.type, conf: s.conf ?? '', zone: s.zone ?? '', dst: s.dst ?? 'xxl', misfire: s.misfire ?? 'DO_NOTHING', misfireMax: s.misfireMax ?? 100,
    kind: task.kind, handler: task.handler ?? '', param: task.param ?? '', script: '',
    route: r.route ?? 'ROUND', block: r.block ?? 'SERIAL_EXECUTION', timeoutS: r.timeoutS ?? 0, retries: r.retries ?? 0, retryDelayMs: r.retryDelayMs ?? 0, retryBackoff: r.retryBackoff ?? 1,
    startDeadlineMs: r.startDeadlineMs ?? '', onUnknown: r.onUnknown ?? 'wait', children: job.children.join(', '),
  }
}

const parts = (text: string) => text.split(/[,，\s]+/).filter(Boolean)

/** As the API takes it. What cannot be a number stays as it is: the server names the rule. */
export function jobOf(form: Form): Omit<Schemas['JobNew'], 'start'> {
  const schedule: Schemas['Schedule'] = {type: form.type, misfire: form.misfire, misfireMax: form.misfireMax}
  if (form.type !== 'NONE') schedule.conf = form.conf.trim()
  if (form.type === 'CRON') Object.assign(schedule, {zone: form.zone || null, dst: form.dst})
  const running = {
    route: form.route, block: form.block, timeoutS: form.timeoutS, retries: form.retries, retryDelayMs: form.retryDelayMs, retryBackoff: form.retryBackoff, onUnknown: form.onUnknown,
    ...(form.startDeadlineMs === '' ? {} : {startDeadlineMs: form.startDeadlineMs}),
  } as Schemas['Running']
  const task: Schemas['Task'] = {kind: form.kind, param: form.param}
  if (form.kind === 'BEAN') task.handler = form.handler.trim()
  return {
    name: form.name.trim(), groupId: form.groupId, owner: form.owner.trim(), schedule, task, running,
    children: parts(form.children.replaceAll('#', '')).map(c => Number(c)), alarmEmails: parts(form.emails),
  }
}

const GROUP = 'peal.group'

/** The executor of the job that was saved last in this browser; 0: none yet. */
export const lastGroup = {
  read(): number {
    try {
      return Number(localStorage.getItem(GROUP)) || 0
    } catch {
      return 0
    }
  },
  write(id: number): void {
    try {
      localStorage.setItem(GROUP, String(id))
    } catch { /* a browser that keeps nothing */ }
  },
}

const WEEK = 7 * 86400000

/** What was typed into the form of this job (undefined: a new one) and not saved; kept 7 days. */
export function draftOf(id: number | undefined) {
  const key = 'peal.draft.' + (id ?? 'new')
  return {
    read(): Form | undefined {
      try {
        const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as {at: number, form: Form} | null
        return kept && Date.now() - kept.at < WEEK ? kept.form : undefined
      } catch {
        return undefined
      }
    },
    write(form: Form): void {
      try {
        localStorage.setItem(key, JSON.stringify({at: Date.now(), form}))
      } catch { /* full, or private mode */ }
    },
    drop(): void {
      localStorage.removeItem(key)
    },
  }
}
