// SPDX-License-Identifier: Apache-2.0
import {beforeEach, describe, expect, it, vi} from 'vitest'
import {makePassword} from '../src/lib/password'
import {display} from '../src/lib/display'
import {Problem} from '../src/lib/http'
import {errorText, stopText, whyOf} from '../src/lib/errors'
import {loadLanguage} from '../src/lib/i18n'
import {listenToKeys} from '../src/lib/keys'
import {askOf, forgetRecent, rank, recentJobs, rememberJob} from '../src/lib/palette'
import {permissionsOf} from '../src/lib/rights'
import {bytesOf} from '../src/lib/time'

describe('the palette', () => {
  it.each([
    ['#42', {kind: 'job', id: 42}], [' run:9006120 ', {kind: 'run', id: 9006120}], ['@pay', {kind: 'group', words: 'pay'}],
    ['#4x', {kind: 'words', words: '#4x'}], ['', {kind: 'words', words: ''}],
  ])('%s asks for %o', (text, ask) => expect(askOf(text)).toEqual(ask))
  it('ranks a beginning above a word, a word above the middle, letters in order last', () => {
    const texts = ['Xreport', 'A report', 'Report', 'run everything past ordinary rate of tries', 'none']
    expect([...texts].sort((a, b) => rank('report', b) - rank('report', a))).toEqual(['Report', 'A report', 'Xreport', 'run everything past ordinary rate of tries', 'none'])
    expect(rank('结算', '夜间结算')).toBeGreaterThan(0)
    expect(rank('zzz', 'none')).toBe(0)
  })
  it('knows the jobs opened last, each once, eight at most', () => {
    forgetRecent()
    for (let id = 1; id <= 12; id++) rememberJob({id, name: 'n' + id, app: 'a'})
    rememberJob({id: 7, name: 'again', app: 'a'})
    expect(recentJobs().map(r => r.id)).toEqual([7, 12, 11, 10, 9, 8, 6, 5])
    localStorage.setItem('peal.recent', '{"not": "a list"}')
    expect(recentJobs()).toEqual([])
  })
})

describe('keys', () => {
  const to = {palette: vi.fn(), sheet: vi.fn(), go: vi.fn()}
  const press = (key: string, more: KeyboardEventInit = {}, on: EventTarget = document.body) => on.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...more}))
  beforeEach(() => {
    vi.clearAllMocks()
    display.shortcuts = true
    document.body.innerHTML = '<main><input id="field"></main>'
  })
  it('open the palette also in a field, letters do not', () => {
    const off = listenToKeys(to), field = document.getElementById('field')!
    press('k', {ctrlKey: true}, field)
    press('?', {}, field)
    expect(to.palette).toHaveBeenCalledTimes(1)
    expect(to.sheet).not.toHaveBeenCalled()
    off()
  })
  it('go with g and a letter, and are silent when they are turned off', () => {
    const off = listenToKeys(to)
    press('g')
    press('r')
    expect(to.go).toHaveBeenCalledWith('/runs')
    display.shortcuts = false
    press('?')
    press('g')
    press('j')
    expect(to.sheet).not.toHaveBeenCalled()
    expect(to.go).toHaveBeenCalledTimes(1)
    off()
  })
})

it('a role has all that the roles below it have', () => {
  expect(permissionsOf('editor')).toEqual(['read', 'run', 'jobs:write'])
  expect(permissionsOf('auditor')).toEqual(['read', 'audit:read'])
  expect(permissionsOf('none')).toEqual([])
})

it('a password made here has 16 letters and digits, and is another each time', () => {
  expect(makePassword()).toMatch(/^[a-zA-Z2-9]{16}$/)
  expect(makePassword()).not.toBe(makePassword())
})

it('a broken rule is said in the language of display, with its bounds; an unknown one as the server says it', async () => {
  display.language = 'zh-CN'
  await loadLanguage()
  expect(errorText({field: '/name', rule: 'text.length', detail: 'name: must have 4 to 20', params: {min: 4, max: 20}})).toBe('4 至 20 个字符。')
  expect(errorText({field: '/name', rule: 'new.rule', detail: '/name: as it is'})).toBe('as it is')
  const conf = (detail: string) => errorText({field: '/schedule/conf', rule: 'schedule.conf', detail: 'schedule/conf: ' + detail})
  expect(conf('cron: minute, column 3: 75 is not within 0-59')).toBe('无法识别该调度：分（第 3 列）：75 不在 0–59 之内')
  expect(conf('cron: 3 fields, but 6 or 7 are wanted: second')).toContain('有 3 个字段')
  expect(conf('cron: hour, column 5: a rule of a newer server')).toBe('无法识别该调度：时（第 5 列）：a rule of a newer server')
  // Every rule of src/cron/cron_parse.c and schedule.c has a text: no English is left.
  for (const rule of ['the number is too large', 'a number is missing here', 'a range of years must not run backwards (2031 is after 2030)', '2031 starts after the last year, 2030',
    'after # stands which one of the month, 1-5', 'nothing may follow ?', 'nothing may follow the step', 'L is allowed in day-of-month and day-of-week only', 'L after a number is allowed in day-of-week only',
    '# is allowed in day-of-week only', 'W is allowed in day-of-month only', 'L-n goes back at most 30 days', 'L must stand alone, not in a list', 'only one # is allowed', 'a step must not exceed 59 here',
    'unexpected character of code 7', 'the field names no value', '? may stand for day-of-month or day-of-week only', 'letters are not allowed here'])
    expect(conf('cron: minute, column 3: ' + rule)).not.toMatch(/[a-z]{3}/)
  for (const rule of ['cron: the expression is longer than 512 bytes', 'cron: column 4: only ASCII characters are allowed', 'schedule_conf: FIX_RATE is longer than three centuries', 'schedule_conf: longer than 512 bytes'])
    expect(conf(rule).replace('ASCII', '')).not.toMatch(/[a-zA-Z]/)
  expect(errorText({field: '/dst', rule: 'word', detail: 'dst: must be one of xxl,smart'})).toBe('此处只能是：xxl或smart')
  expect(errorText({field: '/route', rule: 'word', detail: 'route: must be FIRST, LAST or ROUND'})).toBe('此处只能是：FIRST、LAST或ROUND')
  expect(errorText({field: '/addresses', rule: 'run', detail: '/addresses: 10.0.0.1:1 is neither registered for the job\'s group nor in its list'})).toBe('无法这样启动运行：10.0.0.1:1 不是该任务执行器的地址')
  expect(whyOf(new Problem(422, 'invalid', 'English', {errors: [{field: '/start', rule: 'schedule.over', detail: 'English'}]} as never))).toBe('该调度不会再触发。')
  expect(stopText('its one scheduled time has been planned')).toBe('唯一的一次触发已安排。')
  expect(stopText('the schedule has no further scheduled time')).toBe('该调度不会再触发。')
  display.language = 'en'
  await loadLanguage()
  expect(bytesOf(229376)).toBe('229.4 kB')
  expect(bytesOf(0)).toBe('0 byte')
})
