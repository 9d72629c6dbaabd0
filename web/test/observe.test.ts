// SPDX-License-Identifier: Apache-2.0
import {beforeAll, describe, expect, it} from 'vitest'
import {fillDays} from '../src/lib/days'
import {linesFor, rowsOf, shownState, type Executor, type Group} from '../src/lib/executors'
import {display} from '../src/lib/display'
import {concerns} from '../src/lib/events'
import type {Schemas} from '../src/lib/http'
import {countedHours, evenHours, hourlyOf, sharedHours} from '../src/lib/hours'
import {loadLanguage} from '../src/lib/i18n'
import {beforeOf, fieldLabel, fieldText, isPreset, JOB_FIELDS, valueAt} from '../src/lib/jobfields'
import {peaksOf} from '../src/lib/peaks'
import {hostOf, reasonOf, streakOf, type Run} from '../src/lib/runs'
import {spanOf} from '../src/lib/time'

const job: Schemas['Job'] = {
  id: 7, name: 'n', group: {id: 3, app: 'pay'}, owner: 'dev-2', state: 'scheduled', children: [], version: 1, alarmEmails: [],
  schedule: {type: 'CRON', conf: '0 0 2 * * ?', zone: null, dst: 'smart', misfire: 'DO_NOTHING', misfireMax: 100},
  task: {kind: 'BEAN', handler: 'h', param: ''}, running: {route: 'ROUND', block: 'SERIAL_EXECUTION', timeoutS: 90, retries: 0},
}
const run = (outcome: Run['outcome'], at = 0): Run => ({id: 1, job: {id: 7, name: 'n'}, group: job.group, outcome, phase: outcome === 'open' ? 'accepted' : outcome, kind: 'CRON', attempt: 0, scheduledAt: '', scheduledMs: at} as Run)

beforeAll(async () => {
  display.language = 'en'
  await loadLanguage()
})

describe('the fields of a job', () => {
  it('tell what the job says itself from what is preset', () => {
    const preset = JOB_FIELDS.filter(f => isPreset(f, job)).map(f => f.pointer)
    expect(preset).toContain('/schedule/zone')
    expect(preset).toContain('/running/retries')
    expect(preset).not.toContain('/schedule/dst')
    expect(preset).not.toContain('/running/route')
    expect(preset).not.toContain('/name')
  })
  it('are worded, and unknown ones stay as they are', () => {
    expect(fieldText('/running/timeoutS', valueAt(job, '/running/timeoutS'), job)).toBe('1 min 30 s')
    expect(fieldText('/groupId', valueAt(job, '/groupId'), job)).toBe('pay')
    expect(fieldText('/children', [4, 5])).toBe('#4, #5')
    expect(fieldText('/children', [])).toBe('')
    expect(fieldLabel('/something/new')).toBe('/something/new')
    expect(fieldText('/something/new', {a: 1})).toBe('{"a":1}')
  })
  it('go back to what they were before an edit, and nothing else does', () => {
    const was = beforeOf(job, [{field: '/running/retries', before: 2, after: 0}, {field: '/alarmEmails', before: ['a@b'], after: []}, {field: '/groupId', before: 9, after: 3}, {field: '/strange', before: 1, after: 2}])
    expect(was).toMatchObject({group: {id: 9}, alarmEmails: ['a@b'], running: {retries: 2, route: 'ROUND'}})
    expect(was).not.toHaveProperty('strange')
    expect(job.running.retries).toBe(0)
  })
})

describe('runs', () => {
  it('in a row end alike; open ones do not count', () => {
    expect(streakOf([run('open', 5), run('failed', 4), run('timed_out', 3), run('succeeded', 2)])).toEqual({outcome: 'failed', count: 2, sinceMs: 3})
    expect(streakOf([run('succeeded', 4), run('killed', 3), run('failed', 2)])).toMatchObject({outcome: 'succeeded', count: 2})
    expect(streakOf([run('open')])).toBeUndefined()
  })
  it('have a reason of one line, if they did not succeed', () => {
    expect(reasonOf({...run('failed'), message: '\nexit 3\nmore'})).toBe('exit 3')
    expect(reasonOf({...run('failed'), message: '', cause: {code: 'PE-3001', text: 'said so'}})).toBe('said so')
    expect(reasonOf({...run('succeeded'), message: 'fine'})).toBe('')
    expect(hostOf('http://10.0.3.7:9999/')).toBe('10.0.3.7:9999')
  })
})

it('days without figures are days with zeros', () => {
  const days = fillDays([{day: '2026-02-28', n: 4}], '2026-03-02', 4, day => ({day, n: 0}))
  expect(days.map(d => d.day + ' ' + d.n)).toEqual(['2026-02-27 0', '2026-02-28 4', '2026-03-01 0', '2026-03-02 0'])
})

it.each([[0, '0 ms'], [60000, '1 min'], [7200000, '2 h'], [86400000, '1 d']])('a span of %s ms is %s: no zeros behind', (ms, text) => {
  expect(spanOf(ms)).toBe(text)
})

describe('groups of executors', () => {
  const group = (id: number, app: string, up: number, total: number, jobs = 1, failing = 0): Group => ({id, app, title: '', addressing: 'registry', addresses: [], up, total, jobs, failing, version: 1})
  const executor = (id: number, inFlight: number, waiting: number): Executor => ({key: 'k', address: 'http://a:1/', groups: [{id, app: ''}], state: 'up', source: 'registry', open: 0, unknown: 0, lane: {inFlight, waiting, connections: 1, connectionsMax: 8}})
  it('stand with the bad ones first: nobody, partly up, a full lane', () => {
    const rows = rowsOf([group(1, 'fine', 2, 2), group(2, 'full', 1, 1), group(3, 'part', 1, 2), group(4, 'none', 0, 0), group(5, 'new', 0, 0, 0), group(6, 'fails', 1, 1, 1, 2)], [executor(2, 8, 5), executor(1, 1, 0)])
    expect(rows.map(r => r.group.app + ' ' + r.state)).toEqual(['none nobody', 'part partly', 'full full', 'fails up', 'fine up', 'new empty'])
    expect(rows[2]).toMatchObject({waiting: 5, inFlight: 8})
  })
  it('say of an executor that takes calls and answers none that it hangs', () => {
    const owes = {...executor(1, 0, 0), unknown: 1, lastErrorMs: 1000}
    expect([shownState(owes, 2000), shownState(owes, 70000), shownState({...owes, unknown: 0}, 2000), shownState({...owes, state: 'refusing'}, 2000)]).toEqual(['hangs', 'up', 'up', 'refusing'])
  })
  it('are told how to find this center', () => {
    for (const {text} of linesFor('pay', 'http://h:1/x')) {
      expect(text).toContain('http://h:1/x')
      expect(text).toContain('pay')
    }
  })
})

describe('the hours of a day', () => {
  const fire = (ms: number) => ({ms, local: new Date(ms).toISOString().slice(0, 19), at: '', offset: '+00:00', zone: 'UTC'})
  const from = Date.UTC(2026, 10, 21, 9, 30), HOUR = 3600000

  it('are counted from firings that go on for a day', () => {
    const counts = countedHours(Array.from({length: 60}, (_, i) => fire(from + i * HOUR / 2)))
    expect(counts).toEqual(new Array(24).fill(2))
    expect(countedHours([fire(from), fire(from + 60000), fire(from + 120000)])).toBeUndefined()
  })
  it('of what fires more often are those of the expression once an hour, with their share of a day', () => {
    expect(hourlyOf('0/10 * 9-11 ? * MON-FRI')).toBe('0 0 9-11 ? * MON-FRI')
    expect(hourlyOf('*/5 * * * *')).toBeUndefined()
    const hourly = {fires: [from - HOUR / 2, from + HOUR / 2, from + HOUR * 1.5].map(fire), calendar: [{day: '2026-11-21', count: 3}, {day: '2026-11-22', count: 4, marks: ['overlap' as const]}, {day: '2026-11-23', count: 3}]}
    const calendar = [{day: '2026-11-21', count: 500}, {day: '2026-11-22', count: 1440}, {day: '2026-11-23', count: 1080}]
    const counts = sharedHours(from, calendar, hourly)!
    expect(counts.slice(8, 13)).toEqual([0, 360, 360, 360, 0])
    expect(sharedHours(from, [], hourly)).toBeUndefined()
  })
  it('are all alike at an even pace', () => {
    expect(evenHours(10000)![3]).toBe(360)
    expect(evenHours(Number.NaN)).toBeUndefined()
  })
})

describe('full seconds', () => {
  const second = (at: number, count: number, ...ids: number[]) => ({atMs: at, count, jobs: ids.map(id => ({id, name: String(id)}))})
  it('of the same jobs are one, with its times', () => {
    const found = peaksOf([second(7200, 2, 1, 2), second(3600, 2, 1, 2), second(10800, 2, 1, 2), second(5000, 3, 1, 2, 4), second(100, 1, 9)])
    expect(found.map(p => [p.count, p.times, p.everyMs])).toEqual([[2, [3600, 7200, 10800], 3600], [3, [5000], undefined]])
  })
  it('have no pace with two times, or uneven ones', () => {
    expect(peaksOf([second(1, 2, 1, 2), second(2, 2, 1, 2)])[0]!.everyMs).toBeUndefined()
    expect(peaksOf([second(1, 2, 1, 2), second(2, 2, 1, 2), second(4, 2, 1, 2)])[0]!.everyMs).toBeUndefined()
  })
})

describe('events', () => {
  it('make old what shows what they are about', () => {
    expect(concerns('alarm', {id: 17, groupId: 4, state: 'open'})).toEqual(['/alarms', '/alarm-deliveries'])
    expect(concerns('job', {id: 7, change: 'updated', version: 2})).toContain('/jobs/7')
    expect(concerns('vitals', {ok: true, inFlight: 0, waiting: 0})).toEqual([])
  })
})
