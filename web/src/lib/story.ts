// SPDX-License-Identifier: Apache-2.0
// What happened to a run, as a person reads it: each step with its shape, its time, a sentence, and
// the time that passed since the step before. Steps that did not come are hollow.
import type {Schemas} from './http'
import {t, tOf} from './i18n'
import {hostOf} from './runs'
import {spanOf} from './time'

type Step = Schemas['Step']
export interface Row {
  key: string
  step: string
  mark: string // the name of a shape
  title: string
  text: string
  mono: boolean // the sentence is what a program said
  ms: number | undefined
  gapMs: number | undefined // since the row before
  bad: boolean
  hollow: boolean
  run?: number | undefined // another run that this step leads to
}

const MARKS: Record<string, string> = {planned: 'planned', due: 'planned', unknown: 'unknown', queried: 'unknown', lost: 'lost', kill_wanted: 'killed', killed: 'killed', skipped: 'stopped', withdrawn: 'stopped'}
/** What comes after each other when all goes well. */
const COURSE = ['due', 'sent', 'accepted', 'ended']
const ENDS = new Set(['ended', 'killed', 'lost', 'skipped', 'withdrawn'])

function param(step: Step, ...names: string[]): string | number | undefined {
  for (const name of names) {
    const value = step.params?.[name]
    if ((typeof value === 'string' && value) || typeof value === 'number') return value
  }
  return undefined
}

/** The sentence below the step's name; '' where its name says it all. */
function sentenceOf(step: Step, due: number | undefined): {text: string, mono: boolean} {
  const said = param(step, 'message', 'error', 'reason', 'said')
  if (said !== undefined && step.step !== 'routed') return {text: String(said).trim().split('\n').slice(0, 3).join('\n'), mono: true}
  const address = hostOf(param(step, 'address') as string | undefined)
  const parts: string[] = []
  const aheadMs = due === undefined ? undefined : due - step.ms, times = param(step, 'times'), route = param(step, 'route', 'strategy'), bytes = param(step, 'bytes'), waited = param(step, 'waitedMs', 'waitMs')
  const attempt = param(step, 'attempt', 'n'), code = param(step, 'code')
  if (step.step === 'planned' && typeof aheadMs === 'number' && aheadMs > 0) parts.push(t('story.ahead', {span: spanOf(aheadMs)}))
  if (address && (step.step === 'routed' || step.step === 'rerouted' || step.step === 'planned')) parts.push(route ? t('story.routed_by', {address, route: String(route)}) : t('story.address', {address}))
  else if (address && step.step !== 'ended') parts.push(t('story.address', {address}))
  if (typeof bytes === 'number') parts.push(t('story.bytes', {n: bytes}))
  if (typeof waited === 'number' && waited >= 1) parts.push(t('story.waited', {span: spanOf(waited)}))
  if (typeof times === 'number' && times > 1) parts.push(t('story.times', {n: times}))
  if (step.step === 'retry_planned' && typeof attempt === 'number') parts.push(t('story.attempt', {n: attempt}))
  if (step.step === 'ended' && !step.ok && typeof code === 'number') parts.push(t('story.code', {code}))
  return {text: parts.join(' '), mono: false}
}

function rowOf(step: Step, before: Step | undefined, i: number, due: number | undefined): Row {
  const {text, mono} = sentenceOf(step, due)
  const run = param(step, 'runId', 'run')
  return {
    key: i + step.step, step: step.step, title: tOf('step.' + step.step, step.step), text, mono, ms: step.ms, bad: !step.ok, hollow: false,
    mark: !step.ok && step.step !== 'unknown' && step.step !== 'lost' ? 'failed' : MARKS[step.step] ?? 'succeeded',
    gapMs: before ? step.sinceMs ?? step.ms - before.ms : undefined, run: typeof run === 'number' ? run : undefined,
  }
}

/** The rows of a story; with what the run still waits for, or what never came. */
export function storyOf(detail: Schemas['RunDetail']): Row[] {
  const due = detail.story.find(s => s.step === 'due')?.ms
  const rows = detail.story.map((step, i) => rowOf(step, detail.story[i - 1], i, due))
  const came = new Set(detail.story.map(s => s.step as string))
  if ([...came].some(s => ENDS.has(s))) return rows
  const last = Math.max(-1, ...COURSE.map((s, i) => came.has(s) ? i : -1))
  const open = detail.run.outcome === 'open'
  for (const step of COURSE.slice(last + 1)) {
    if (step === 'sent' && (came.has('answered') || came.has('refused'))) continue
    rows.push({key: 'no' + step, step, mark: 'planned', title: tOf('step.' + step, step), text: open ? '' : t('story.never'), mono: false, ms: undefined, gapMs: undefined, bad: false, hollow: true})
  }
  return rows
}

/** The time between two steps: µs, ms or s with the digits that are known. */
export function gapOf(ms: number, exact: boolean): string {
  if (ms < 0) ms = 0
  if (!exact) return ms < 1000 ? '' : spanOf(Math.round(ms / 1000) * 1000)
  return ms >= 1000 && ms < 100000 ? (ms / 1000).toFixed(ms < 10000 ? 3 : 1) + ' s' : spanOf(ms)
}
