// SPDX-License-Identifier: Apache-2.0
import {beforeAll, describe, expect, it} from 'vitest'
import {plainOf, spansOf} from '../src/lib/ansi'
import {display, languageOf} from '../src/lib/display'
import {Problem} from '../src/lib/http'
import {loadLanguage, t, tOf} from '../src/lib/i18n'
import {errorOf} from '../src/lib/errors'
import {draftOf, emptyForm, formOf, jobOf} from '../src/lib/jobform'
import {withParams} from '../src/lib/query'
import {offsetOf, spanOf, timeOf} from '../src/lib/time'
import {en} from '../src/locales/en'
import {messages as cn} from '../src/locales/zh-CN'
import {messages as tw} from '../src/locales/zh-TW'
import {messages as admin} from '../src/locales/admin/en'
import {messages as adminCn} from '../src/locales/admin/zh-CN'
import {messages as adminTw} from '../src/locales/admin/zh-TW'
import {messages as alarms} from '../src/locales/alarms/en'
import {messages as alarmsCn} from '../src/locales/alarms/zh-CN'
import {messages as alarmsTw} from '../src/locales/alarms/zh-TW'

/** The sources that may use the texts of an area: its screens, and what only they are made of. */
const AREAS = [
  {name: 'admin', texts: [admin, adminCn, adminTw], files: /\/(views\/(Audit|Users?|System|Me)|parts\/(AuditRows|Grants|RoleMatrix|Servers|Tokens|UserNew))\.vue$/},
  {name: 'alarms', texts: [alarms, alarmsCn, alarmsTw], files: /\/(views\/Alarms?\.vue|parts\/alarms\/\w+\.vue|lib\/alarms\.ts)$/},
]
const sources = import.meta.glob<string>('../src/{app,views,parts,lib}/**/*.{vue,ts}', {query: '?raw', import: 'default', eager: true})

describe('ANSI colours', () => {
  it('become spans with classes, and never HTML', () => {
    expect(spansOf('a <b>')).toEqual([{text: 'a <b>', classes: ''}])
    expect(spansOf('\u001b[1;31mred\u001b[0m rest')).toEqual([{text: 'red', classes: 'c-red bold'}, {text: ' rest', classes: ''}])
  })
  it('of 256 and true colours are values, and the first 16 of them names', () => {
    expect(spansOf('\u001b[38;5;196mx\u001b[38;2;1;2;3;1my\u001b[48;5;232mz\u001b[38;5;2;49mw')).toEqual([
      {text: 'x', classes: 'rgb', colour: 'rgb(255 0 0)'}, {text: 'y', classes: 'rgb bold', colour: 'rgb(1 2 3)'},
      {text: 'z', classes: 'rgb ground bold', colour: 'rgb(1 2 3)', ground: 'rgb(8 8 8)'}, {text: 'w', classes: 'c-green bold'}])
  })
  it('that are no colours do no harm', () => {
    expect(spansOf('\u001b[38mx\u001b[38;5my\u001b[38;2;999;-1;zmw').map(s => s.text).join('')).toContain('w')
  })
  it('and other sequences vanish from what is searched', () => {
    expect(plainOf('\u001b[2Kdone\u001b]0;title\u0007 now')).toBe('done now')
  })
  it('that are cut stay as they are', () => {
    expect(plainOf('end\u001b[')).toBe('end\u001b[')
  })
})

describe('languages', () => {
  it.each([['zh', 'zh-CN'], ['zh-Hans-SG', 'zh-CN'], ['zh-Hant', 'zh-TW'], ['zh-HK', 'zh-TW'], ['en-GB', 'en'], ['de', undefined]])('%s is %s', (tag, found) => {
    expect(languageOf(tag)).toBe(found)
  })
  it('have the same keys, and the same kind of text for each', () => {
    for (const other of [cn, tw]) {
      expect(Object.keys(other).sort()).toEqual(Object.keys(en).sort())
      for (const key of Object.keys(en) as (keyof typeof en)[]) expect(typeof other[key], key).toBe(typeof en[key])
    }
  })
  it.each(AREAS)('have the same keys in the area $name, which only its screens use', ({texts: [first, ...others], files}) => {
    for (const other of others) expect(Object.keys(other!).sort()).toEqual(Object.keys(first!).sort())
    for (const key of Object.keys(first!)) {
      expect(en, key).not.toHaveProperty([key])
      for (const [file, text] of Object.entries(sources)) if (text.includes(`'${key}'`)) expect(file, key).toMatch(files)
    }
  })
  it('load, and change what is said', async () => {
    display.language = 'zh-TW'
    await loadLanguage()
    expect(t('jobs.title')).toBe('工作')
    display.language = 'en'
    await loadLanguage()
    expect(t('runs.shard', {index: 1, total: 3})).toBe('shard 1 of 3')
    expect(tOf('outcome.nothing', 'as it is')).toBe('as it is')
  })
})

describe('times', () => {
  beforeAll(() => { display.zone = 'Asia/Kolkata' })
  it('stand in the zone of display', () => {
    expect(timeOf(Date.UTC(2026, 10, 22, 1, 30, 0, 7), true)).toBe('07:00:00.007')
    expect(offsetOf(Date.UTC(2026, 10, 22))).toBe('+05:30')
  })
  it.each([[.5, '500 µs'], [3.14, '3.1 ms'], [41185, '41.2 s'], [61000, '1 min 1 s'], [39472000, '10 h 57 min'], [90061000, '1 d 1 h']])('a span of %s ms is %s', (ms, text) => {
    expect(spanOf(ms)).toBe(text)
  })
  it('has the words of a language that has short ones', () => {
    display.language = 'zh-CN'
    expect([spanOf(39472000), spanOf(41185), spanOf(3.14)]).toEqual(['10小时 57分钟', '41.2秒', '3.1 ms'])
    display.language = 'en'
  })
})

describe('the form of a job', () => {
  it('leaves out what its kind of schedule has not', () => {
    const form = {...emptyForm('me'), name: ' n ', groupId: 3, type: 'FIX_RATE' as const, conf: '5', handler: 'h', children: '#4, 5', emails: 'a@b, c@d'}
    const job = jobOf(form)
    expect(job.schedule).toEqual({type: 'FIX_RATE', conf: '5', misfire: 'DO_NOTHING', misfireMax: 100})
    expect(job).toMatchObject({name: 'n', children: [4, 5], alarmEmails: ['a@b', 'c@d']})
    expect(job.running).not.toHaveProperty('startDeadlineMs')
  })
  it('comes back from the job that it made', () => {
    const form = {...emptyForm('me'), name: 'n', groupId: 3, conf: '0 0 2 * * ?', zone: 'Europe/Berlin', handler: 'h', startDeadlineMs: 5000}
    const {groupId, ...rest} = jobOf(form)
    const again = formOf({...rest, id: 1, owner: 'me', group: {id: groupId, app: 'a'}, state: 'stopped', version: 1, children: [], running: rest.running!})
    expect(again).toEqual(form)
  })
  it('finds the error of a field, and of what lies below it', () => {
    const problem = new Problem(422, 'invalid', '', {errors: [{field: '/alarmEmails/1', rule: 'email', detail: 'no address'}]})
    expect(errorOf(problem, '/alarmEmails')).toBe('no address')
    expect(errorOf(problem, '/alarm')).toBeUndefined()
  })
  it('keeps a draft, and drops it', () => {
    const draft = draftOf(7)
    draft.write(emptyForm('x'))
    expect(draft.read()?.owner).toBe('x')
    draft.drop()
    expect(draft.read()).toBeUndefined()
  })
})

it('paths carry only parameters that have a value', () => {
  expect(withParams('/runs', {q: '', job: 4, late: false, from: undefined})).toBe('/runs?job=4')
})
