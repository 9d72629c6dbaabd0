// SPDX-License-Identifier: Apache-2.0
import {beforeAll, expect, it} from 'vitest'
import {display} from '../src/lib/display'
import {loadLanguage} from '../src/lib/i18n'
import {wordsOf} from '../src/lib/jobs'
import {needsRead} from '../src/lib/rights'

beforeAll(async () => {
  display.language = 'en'
  await loadLanguage()
})

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
