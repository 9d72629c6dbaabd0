// SPDX-License-Identifier: Apache-2.0
// What a problem says of single fields: the broken rule in the user's language, with its bounds.
import type {FieldError, Problem} from './http'
import {tWith} from './i18n'

/** The rule that the field breaks; in English, as the server says it, where no text is known. */
export function errorText(error: FieldError): string {
  const detail = error.detail.replace(/^[\w./-]+: /, '')
  return tWith('rule.' + error.rule, {...error.params, detail}, detail)
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
