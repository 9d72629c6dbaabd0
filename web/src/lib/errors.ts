// SPDX-License-Identifier: Apache-2.0
// What a problem says of single fields: the broken rule in the user's language, with its bounds. Where the server
// gives the values of a rule in its English sentence only, they are read from there.
import type {FieldError, Problem} from './http'
import {t, tOf, tWith} from './i18n'

const PARTS: Record<string, string> = {'day-of-month': 'day', 'day-of-week': 'weekday'}
const RULES: [RegExp, string, string[]][] = [
  [/^(-?\d+) is not within (\d+)-(\d+)/, 'range', ['value', 'min', 'max']],
  [/^(?:letters are not allowed|a number is|nothing but a number)/, 'number', []],
  [/^a step must not exceed (\d+)/, 'step', ['max']],
  [/^a name of a \w+ is wanted: (\w+) to (\w+)/, 'name', ['first', 'last']],
  [/^unexpected character (.*)$/, 'sign', ['sign']],
  [/^the field names no value/, 'none', []],
  [/^\? may stand/, 'question', []],
  [/^(\d+) fields?, but/, 'count', ['n']],
  [/^day-of-month \(column \d+\) and day-of-week/, 'days', []],
  [/^\w+ wants whole seconds/, 'seconds', []],
  [/^\w+ must be at least (.+)$/, 'least', ['least']],
  [/^ONCE: /, 'once', []],
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

/** The rule that the field breaks; in English, as the server says it, where no text is known. */
export function errorText(error: FieldError): string {
  const said = error.detail.replace(/^[\w./-]+: /, '')
  const detail = error.rule === 'schedule.conf' ? confText(said) : said
  const numbers = said.match(/\d+/g) ?? []
  return tWith('rule.' + error.rule, {ids: numbers.map(n => '#' + n).join(', '), ...error.params, detail}, detail)
}

/** The text of a problem's error at this pointer, or below it. */
export function errorOf(problem: Problem | undefined, pointer: string): string | undefined {
  const error = problem?.errors.find(e => e.field === pointer || e.field.startsWith(pointer + '/'))
  return error && errorText(error)
}

/** Whether the problem is wholly told at fields. */
export function isOfFields(problem: Problem): boolean {
  return problem.errors.length > 0
}
