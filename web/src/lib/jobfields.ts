// SPDX-License-Identifier: Apache-2.0
// The fields of a job in the order of its form: for the settings, and for what an edit changed. The
// pointer is that of the API; the form opens at its text without the first slash.
import type {Schemas} from './http'
import {t, tOf} from './i18n'
import {numberOf, spanOf} from './time'

type Job = Schemas['Job']
export type Part = 'job' | 'schedule' | 'task' | 'running'

export interface JobField {
  pointer: string
  part: Part
  label: () => string
  text?: (value: unknown, job?: Job) => string // absent: as it is
  preset?: unknown // the value of a job that does not say it
  only?: (job: Job) => boolean
}

const words = (prefix: string) => (value: unknown) => tOf(prefix + value, String(value))
const span = (value: unknown) => typeof value === 'number' && value > 0 ? spanOf(value) : String(value)
const cron = (job: Job) => job.schedule.type === 'CRON'
const timed = (job: Job) => job.schedule.type !== 'NONE'

export const JOB_FIELDS: JobField[] = [
  {pointer: '/name', part: 'job', label: () => t('form.name')},
  {pointer: '/groupId', part: 'job', label: () => t('form.group'), text: (value, job) => job && job.group.id === value ? `${job.group.app} ${job.group.title ?? ''}`.trim() : '#' + value},
  {pointer: '/owner', part: 'job', label: () => t('form.owner')},
  {pointer: '/alarmEmails', part: 'job', label: () => t('form.emails'), preset: []},
  {pointer: '/schedule/type', part: 'schedule', label: () => t('form.type'), text: words('form.type.')},
  {pointer: '/schedule/conf', part: 'schedule', label: () => t('jobs.schedule'), only: timed},
  {pointer: '/schedule/zone', part: 'schedule', label: () => t('form.zone'), preset: null, only: cron},
  {pointer: '/schedule/dst', part: 'schedule', label: () => t('form.dst'), text: words('form.dst.'), preset: 'xxl', only: cron},
  {pointer: '/schedule/misfire', part: 'schedule', label: () => t('form.misfire'), text: words('form.misfire.'), preset: 'DO_NOTHING', only: timed},
  {pointer: '/schedule/misfireMax', part: 'schedule', label: () => t('form.misfire_max'), preset: 100, only: job => job.schedule.misfire === 'FIRE_ALL'},
  {pointer: '/task/kind', part: 'task', label: () => t('form.task_kind')},
  {pointer: '/task/handler', part: 'task', label: () => t('form.handler'), preset: '', only: job => job.task.kind === 'BEAN'},
  {pointer: '/task/param', part: 'task', label: () => t('form.param'), preset: ''},
  {pointer: '/running/route', part: 'running', label: () => t('form.route'), preset: 'FIRST'},
  {pointer: '/running/block', part: 'running', label: () => t('form.block'), preset: 'SERIAL_EXECUTION'},
  {pointer: '/running/timeoutS', part: 'running', label: () => t('form.timeout'), preset: 0, text: value => value ? spanOf(Number(value) * 1000) : t('none')},
  {pointer: '/running/retries', part: 'running', label: () => t('form.retries'), preset: 0, text: value => typeof value === 'number' ? numberOf(value) : String(value)},
  {pointer: '/running/retryDelayMs', part: 'running', label: () => t('job.field.retry_delay'), preset: 0, text: span},
  {pointer: '/running/retryBackoff', part: 'running', label: () => t('job.field.backoff'), preset: 1},
  {pointer: '/running/startDeadlineMs', part: 'running', label: () => t('job.field.deadline'), preset: 60000, text: span},
  {pointer: '/running/onUnknown', part: 'running', label: () => t('form.unknown'), text: words('form.unknown.'), preset: 'wait'},
  {pointer: '/children', part: 'running', label: () => t('form.children'), preset: [], text: value => (value as number[]).map(id => '#' + id).join(', ')},
]

const BY_POINTER = new Map(JOB_FIELDS.map(f => [f.pointer, f]))

/** The value at a pointer; the group is named by its id, as edits name it. */
export function valueAt(job: Job, pointer: string): unknown {
  if (pointer === '/groupId') return job.group.id
  return pointer.slice(1).split('/').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], job)
}

const empty = (value: unknown) => value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)

/** A value of a field as a person reads it; '' where there is nothing. */
export function fieldText(pointer: string, value: unknown, job?: Job): string {
  if (empty(value)) return ''
  const text = BY_POINTER.get(pointer)?.text
  if (text) return text(value, job)
  return Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export const fieldLabel = (pointer: string): string => BY_POINTER.get(pointer)?.label() ?? pointer

/** Whether the job says this itself. */
export function isPreset(field: JobField, job: Job): boolean {
  const value = valueAt(job, field.pointer)
  if (!('preset' in field)) return false
  return empty(value) ? empty(field.preset) : JSON.stringify(value) === JSON.stringify(field.preset)
}

/** The job as it was before these changes; what the form does not have is left alone. */
export function beforeOf(job: Job, changes: Schemas['Audit']['changes']): Job {
  const was = JSON.parse(JSON.stringify(job)) as Job
  for (const {field, before} of changes) {
    if (field === '/groupId') was.group = {...was.group, id: Number(before)}
    else if (BY_POINTER.has(field)) {
      const names = field.slice(1).split('/')
      const at = names.slice(0, -1).reduce<Record<string, unknown>>((o, name) => o[name] as Record<string, unknown>, was as unknown as Record<string, unknown>)
      at[names.at(-1)!] = before ?? (Array.isArray(at[names.at(-1)!]) ? [] : before)
    }
  }
  return was
}
