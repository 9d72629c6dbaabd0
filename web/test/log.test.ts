// SPDX-License-Identifier: Apache-2.0
import {beforeAll, describe, expect, it} from 'vitest'
import {markSpans, spansOf} from '../src/lib/ansi'
import {display} from '../src/lib/display'
import type {Schemas} from '../src/lib/http'
import {loadLanguage} from '../src/lib/i18n'
import {columnsOf, finderOf, isError, lineAt, localTimes, oneLine, topsOf} from '../src/lib/loglines'
import {gapOf, storyOf} from '../src/lib/story'

beforeAll(async () => {
  display.language = 'en'
  await loadLanguage()
})

describe('lines of a log', () => {
  it.each([['java.lang.NullPointerException', false], ['ERROR cannot write', true], ['0 errors', false], ['\u001b[31mred\u001b[0m', true], ['all is well', false], ['Exception in thread', true]])('%s is an error: %s', (line, is) => {
    expect(isError(line)).toBe(is)
  })
  it('are searched as plain text, for a text or a regular expression', () => {
    expect(finderOf('a.c', false)!('abc a.c')).toEqual([[4, 7]])
    expect(finderOf('a.c', true)!('abc \u001b[31ma\u001b[0m.c')).toEqual([[0, 3], [4, 7]])
    expect(finderOf('(', true)).toBeUndefined()
    expect(finderOf('', false)).toBeUndefined()
    expect(finderOf('x*', true)!('aaa')).toEqual([])
  })
  it('show what was found across the colours', () => {
    const spans = markSpans(spansOf('ab\u001b[31mcd'), [[1, 3]])
    expect(spans.map(s => [s.text, s.classes, !!s.found])).toEqual([['a', '', false], ['b', '', true], ['c', 'c-red', true], ['d', 'c-red', false]])
  })
  it('take more rows when they are wrapped', () => {
    const tops = topsOf(['', 'x'.repeat(10), 'x'.repeat(11), '\u4e2d'.repeat(6)], 10)
    expect([...tops]).toEqual([0, 1, 2, 4, 6])
    expect([0, 1, 2, 3, 4, 99].map(row => lineAt(tops, row))).toEqual([0, 1, 2, 2, 3, 3])
    expect(columnsOf('a\u4e2d')).toBe(3)
  })
  it('have their times in the zone of display, if they name an offset', () => {
    const at = (ms: number) => '<' + new Date(ms).toISOString().slice(11, 19) + '>'
    expect(localTimes('2026-11-22 03:04:05,123+0100 a 2026-11-22T03:04:05Z', at)).toBe('<02:04:05>.123 a <03:04:05>')
    expect(localTimes('2026-11-22 03:04:05 a', at)).toBe('2026-11-22 03:04:05 a')
  })
  it('lose the tags that XXL-JOB writes into them', () => {
    expect(oneLine('a <br>-- b<br/>c')).toBe('a -- b c')
  })
})

describe('the story of a run', () => {
  const step = (name: Schemas['Step']['step'], ms: number, params: Schemas['Step']['params'] = {}, ok = true): Schemas['Step'] => ({step: name, at: '', ms, ok, params})
  const detail = (outcome: string, ...story: Schemas['Step'][]) => ({run: {outcome, phase: 'sent'}, story, related: {}}) as unknown as Schemas['RunDetail']

  it('has the time between two steps, and what a program said word for word', () => {
    const rows = storyOf(detail('failed', step('due', 1000), step('sent', 1001, {address: 'http://a:1/', bytes: 512}), step('ended', 3001, {message: 'no disk\n\nx\ny'}, false)))
    expect(rows.map(r => [r.step, r.gapMs, r.mark, r.bad])).toEqual([['due', undefined, 'planned', false], ['sent', 1, 'succeeded', false], ['ended', 2000, 'failed', true]])
    expect(rows[1]!.text).toBe('a:1 512 bytes.')
    expect(rows[2]).toMatchObject({text: 'no disk\n\nx', mono: true})
  })
  it('shows hollow what did not come, and what an open run waits for', () => {
    expect(storyOf(detail('rejected', step('due', 1), step('refused', 2, {message: 'connection refused'}, false))).filter(r => r.hollow).map(r => [r.step, r.text])).toEqual([['accepted', 'did not come'], ['ended', 'did not come']])
    expect(storyOf(detail('open', step('due', 1), step('sent', 2))).filter(r => r.hollow).map(r => [r.step, r.text])).toEqual([['accepted', ''], ['ended', '']])
    expect(storyOf(detail('killed', step('due', 1), step('killed', 2))).some(r => r.hollow)).toBe(false)
  })
  it.each([[1.3, true, '1.3 ms'], [.4, true, '400 µs'], [4587, true, '4.587 s'], [41185, true, '41.2 s'], [300, false, ''], [41185, false, '41 s']])('a gap of %s ms, exact %s, is %s', (ms, exact, text) => {
    expect(gapOf(ms, exact)).toBe(text)
  })
})
