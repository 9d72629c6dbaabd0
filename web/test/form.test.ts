// SPDX-License-Identifier: Apache-2.0
import {describe, expect, it} from 'vitest'
import {cronOf, simpleOf, triesOf, type Simple} from '../src/lib/cronkinds'
import {emptyForm} from '../src/lib/jobform'
import {isTemplate, scriptDraftOf, templateOf} from '../src/lib/scripts'
import {choiceOf, differencesOf} from '../src/lib/threeway'

describe('simple schedules', () => {
  it.each<[Simple, string]>([
    [{kind: 'every', n: 15, unit: 'second'}, '0/15 * * * * ?'], [{kind: 'every', n: 5, unit: 'minute'}, '0 0/5 * * * ?'], [{kind: 'every', n: 6, unit: 'hour'}, '0 0 0/6 * * ?'],
    [{kind: 'daily', time: '02:30'}, '0 30 2 * * ?'], [{kind: 'daily', time: '23:59:58'}, '58 59 23 * * ?'],
    [{kind: 'weekly', time: '07:00', days: ['MON', 'FRI']}, '0 0 7 ? * MON,FRI'], [{kind: 'monthly', time: '00:05', day: 'L'}, '0 5 0 L * ?'], [{kind: 'monthly', time: '00:05', day: '31'}, '0 5 0 31 * ?'],
  ])('%o is %s, and is known again', (simple, cron) => {
    expect(cronOf(simple)).toBe(cron)
    expect(simpleOf(cron)).toEqual(simple)
  })
  it.each(['0 0/7 * * * ?', '0 0 2 * 5 ?', '0 0 2 * * ? 2027', '0 30 2 1-5 * ?', '0 0 25 * * ?', '0 0 2 1 * MON', '', 'every day', '0 0 0/6 1 * ?'])('%s stays cron', text => {
    expect(simpleOf(text)).toBeUndefined()
  })
  it('weekdays stand in their order, and one always does', () => {
    expect(cronOf({kind: 'weekly', time: '1:00', days: ['SUN', 'TUE']})).toBe('0 0 1 ? * TUE,SUN')
    expect(cronOf({kind: 'weekly', time: 'x', days: []})).toBe('0 0 0 ? * MON')
  })
})

it('tries come after delays that grow by the back-off, six are named', () => {
  expect(triesOf(3, 5000, 2)).toEqual([0, 5000, 15000, 35000])
  expect(triesOf(100, 1000, 1)).toHaveLength(6)
  expect(triesOf(0, 1000, 1)).toEqual([0])
})

it('of three forms the differences are told, and whose is taken first', () => {
  const was = {...emptyForm('a'), owner: 'a', param: 'x'}
  const found = differencesOf(was, {...was, owner: 'b', retries: 1}, {...was, param: 'y', retries: 2})
  expect(found.map(d => [d.field, choiceOf(d)])).toEqual([['owner', 'theirs'], ['param', 'mine'], ['retries', 'mine']])
})

it('a script begins with the template of its language, and a draft waits a week', () => {
  expect(templateOf('GLUE_SHELL')).toMatch(/^#!\/bin\/bash/)
  expect(isTemplate(templateOf('GLUE_PYTHON')) && isTemplate('  ')).toBe(true)
  expect(isTemplate('echo mine')).toBe(false)
  const draft = scriptDraftOf(3)
  draft.write(7, 'text')
  expect(draft.read()).toMatchObject({base: 7, source: 'text'})
  localStorage.setItem('peal.script.3', JSON.stringify({at: Date.now() - 8 * 86400000, base: 7, source: 'old'}))
  expect(draft.read()).toBeUndefined()
})
