// SPDX-License-Identifier: Apache-2.0
// Two edits of one job: what was, what another saved, what stands in the form.
import type {Form} from './jobform'

export interface Difference {
  field: keyof Form
  was: unknown
  theirs: unknown
  mine: unknown
}
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The fields on which the three do not agree. */
export function differencesOf(was: Form, theirs: Form, mine: Form): Difference[] {
  return (Object.keys(mine) as (keyof Form)[]).filter(field => field !== 'script' && !(same(was[field], theirs[field]) && same(was[field], mine[field])))
    .map(field => ({field, was: was[field], theirs: theirs[field], mine: mine[field]}))
}

/** Whose value is taken if the user does not say: the one that was changed; mine where both were. */
export function choiceOf(d: Difference): 'theirs' | 'mine' {
  return same(d.was, d.mine) ? 'theirs' : 'mine'
}

/** A value of a field, as it is shown beside others. */
export const textOf = (value: unknown) => value === '' || value === null || value === undefined ? '–' : String(value)
