// SPDX-License-Identifier: Apache-2.0
import {beforeAll, expect, it} from 'vitest'
import {display} from '../src/lib/display'
import {loadLanguage} from '../src/lib/i18n'
import {wordsOf} from '../src/lib/jobs'
import {needsRead} from '../src/lib/rights'
import {changesOf} from '../src/lib/rows'

beforeAll(async () => {
  display.language = 'en'
  await loadLanguage()
})

it.each([
  [[1, 2, 3], [1, 2, 3], 0],
  [[1, 2, 3], [9, 1, 2], 1], // one came, the last went to the next page
  [[1, 2, 3], [1, 3], 1],
  [[1, 2, 3], [1, 2, 3, 4, 5], 2],
  [[1, 2, 3, 4], [2, 3, 4, 1], 1], // one moved, three were pushed along
  [[1, 2, 3], [4, 5, 6], 3],
  [[], [1], 1],
])('from %j to %j so many rows changed: %i', (shown, now, n) => expect(changesOf(shown, now)).toBe(n))

it.each([
  ['0 0/5 * * * ?', 'Every 5 min'],
  ['0 30 2 * * ?', 'Every day at 02:30'],
  ['15 0 8 ? * MON,FRI', 'Mon, Fri at 08:00:15'],
  ['0 0 3 L * ?', 'Last day of the month at 03:00'],
  ['0 0 3 5 * ?', 'Day 5 of the month at 03:00'],
  ['0 0 3 ? * 2#1', undefined],
])('the list says %s as %s', (conf, words) => expect(wordsOf({type: 'CRON', conf})).toBe(words))

it('a token that does something to jobs needs to find them', () => {
  expect(needsRead(['run'])).toBe(true)
  expect(needsRead(['audit:read', 'jobs:write'])).toBe(true)
  expect(needsRead(['read', 'audit:read'])).toBe(false)
})
