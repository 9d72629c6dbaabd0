// SPDX-License-Identifier: Apache-2.0
// What screens say of runs: the word and the shape of a state, the reason of a failure.
import type {Schemas} from './http'
import {tOf} from './i18n'

export type Run = Schemas['Run']
export type Outcome = Schemas['Outcome']

/** Ends that a person has to look at; a run that a user killed is none. */
export const FAILURES: Outcome[] = ['failed', 'timed_out', 'lost', 'rejected', 'unroutable']
export const isFailure = (outcome: string) => (FAILURES as string[]).includes(outcome)

/** The name of the shape: an open run shows its phase. */
export const markOf = (run: Run): string => run.outcome === 'open' ? run.phase : run.outcome

export const wordOf = (run: Run): string => run.outcome === 'open'
  ? tOf('phase.' + run.phase, run.phase) : tOf('outcome.' + run.outcome, run.outcome)

const firstLine = (text: string) => text.trim().split('\n')[0] ?? ''

/** One line: why it did not succeed. */
export function reasonOf(run: Run): string {
  return run.outcome === 'succeeded' || run.outcome === 'open' ? '' : firstLine(run.message ?? '') || firstLine(run.cause?.text ?? '')
}

/** 10.0.3.7:9999 of http://10.0.3.7:9999/ */
export const hostOf = (address: string | null | undefined): string => address?.replace(/^https?:\/\/|\/$/g, '') ?? ''

/** How many of the newest ended alike, from runs newest first; open ones do not count. */
export function streakOf(runs: Run[]): {outcome: Outcome, count: number, sinceMs: number} | undefined {
  const ended = runs.filter(r => r.outcome !== 'open')
  const bad = ended[0] && isFailure(ended[0].outcome)
  if (!ended[0]) return undefined
  const end = ended.findIndex(r => isFailure(r.outcome) !== bad)
  const same = end < 0 ? ended : ended.slice(0, end)
  return {outcome: ended[0].outcome, count: same.length, sinceMs: same.at(-1)!.scheduledMs}
}
