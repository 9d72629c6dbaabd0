// SPDX-License-Identifier: Apache-2.0
// What a problem says of single fields: the broken rule in the user's language, with its bounds. Where the server
// gives the values of a rule in its English sentence only, they are read from there.
import {display} from './display'
import type {FieldError, Problem} from './http'
import {t, tOf, tWith} from './i18n'

const PARTS: Record<string, string> = {'day-of-month': 'day', 'day-of-week': 'weekday'}
const RULES: [RegExp, string, string[]][] = [
  [/^(-?\d+) is not within (\d+)-(\d+)/, 'range', ['value', 'min', 'max']],
  [/^(?:letters are not allowed|a number is|nothing but a number)/, 'number', []],
  [/^a step must not exceed (\d+)/, 'step', ['max']],
  [/^a name of a \w+ is wanted: (\w+) to (\w+)/, 'name', ['first', 'last']],
  [/^unexpected character of code (\d+)/, 'code', ['code']],
  [/^unexpected character (.*)$/, 'sign', ['sign']],
  [/^the field names no value/, 'none', []],
  [/^\? may stand/, 'question', []],
  [/^(\d+) fields?, but/, 'count', ['n']],
  [/^day-of-month \(column \d+\) and day-of-week/, 'days', []],
  [/^\w+ wants whole seconds/, 'seconds', []],
  [/^\w+ must be at least (.+)$/, 'least', ['least']],
  [/^ONCE: /, 'once', []],
  [/^\w+ is longer than three centuries/, 'centuries', []],
  [/^the number is too large/, 'large', []],
  [/^a range of years must not run backwards \((\d+) is after (\d+)\)/, 'backwards', ['first', 'last']],
  [/^(\d+) starts after the last year, (\d+)/, 'after', ['value', 'last']],
  [/^after # stands/, 'nth', []],
  [/^nothing may follow/, 'follow', []],
  [/^(L|#|W)(?: after a number)? is allowed in/, 'place', ['sign']],
  [/^L-n goes back/, 'back', []],
  [/^L must stand alone/, 'alone', []],
  [/^only one # is allowed/, 'hash', []],
  [/^column (\d+): only ASCII/, 'ascii', ['column']],
  [/(?:^| )longer than (\d+) bytes/, 'bytes', ['max']],
  [/^at most (\d+) bytes/, 'bytes', ['max']],
  [/^at most (\d+) addresses/, 'addresses', ['max']],
  [/^(\S+) is neither registered/, 'address', ['address']],
]

function ruleOf(text: string): string {
  for (const [pattern, name, names] of RULES) {
    const found = pattern.exec(text)
    if (found) return tWith('conf.' + name, Object.fromEntries(names.map((n, i) => [n, found[i + 1]])), text)
  }
  return text
}

/** What is wrong with an expression: which field, at which column, and the rule; in English where no text is known. */
export function confText(detail: string): string {
  const text = detail.replace(/^(?:cron|schedule_conf): /, '')
  const at = /^([a-z-]+), column (\d+): (.*)$/s.exec(text)
  return at ? t('conf.at', {field: tOf('cron.' + (PARTS[at[1]!] ?? at[1]), at[1]!), column: Number(at[2]), rule: ruleOf(at[3]!)}) : ruleOf(text)
}

/** Why the center stopped a job: its schedule is over, or cannot be read any more. */
export function stopText(reason: string): string {
  if (/^its one scheduled time/.test(reason)) return t('job.stop.once')
  if (/^the schedule has no further/.test(reason)) return t('job.stop.over')
  return confText(reason)
}

/** The words that can stand in a field, taken from the server's sentence. */
function wordsOf(said: string): string {
  const words = /^must be (?:one of )?(.+)$/.exec(said)?.[1]?.split(/, ?| or /)
  return words ? new Intl.ListFormat(display.language, {type: 'disjunction'}).format(words) : said
}

/** The rule that the field breaks; in English, as the server says it, where no text is known. */
export function errorText(error: FieldError): string {
  const said = error.detail.replace(/^[\w./-]+: /, '')
  const detail = error.rule === 'schedule.conf' ? confText(said) : error.rule === 'run' ? ruleOf(said) : error.rule === 'word' ? wordsOf(said) : said
  const numbers = said.match(/\d+/g) ?? []
  return tWith('rule.' + error.rule, {ids: numbers.map(n => '#' + n).join(', '), ...error.params, detail}, detail)
}

/** The text of a problem's error at this pointer, or below it. */
export function errorOf(problem: Problem | undefined, pointer: string): string | undefined {
  const error = problem?.errors.find(e => e.field === pointer || e.field.startsWith(pointer + '/'))
  return error && errorText(error)
}

/** Why something did not happen, in one text: what is wrong with its fields, or the problem itself. */
export function whyOf(problem: Problem): string {
  return problem.errors.map(errorText).join(' ') || tOf('problem.' + problem.code, problem.detail)
}

/** Whether the problem is wholly told at fields. */
export function isOfFields(problem: Problem): boolean {
  return problem.errors.length > 0
}
