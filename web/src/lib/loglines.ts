// SPDX-License-Identifier: Apache-2.0
// What can be told of a log's lines: which is an error, where a text stands, how many rows a line
// takes when it is wrapped, and its time in the zone of display.
import {plainOf} from './ansi'

const ERROR = /\b(?:error|exception|fatal|panic|traceback|failed|failure|severe|critical)\b/i
const NO_ERROR = /\b(?:0|no|without) (?:error|exception|failure)s?\b/i
// eslint-disable-next-line no-control-regex
const RED = /\u001b\[(?:[0-9;]*;)?(?:31|91)m/

/** A line that one looks for first when a run failed. */
export function isError(line: string): boolean {
  return RED.test(line) || (ERROR.test(line) && !NO_ERROR.test(line))
}

export interface Finder {
  /** Where it stands in the line's plain text. */
  (line: string): [number, number][]
}

const MOST = 100 // stretches that are marked in one line

/** What finds a text, or a regular expression; undefined for one that cannot be read, or nothing to find. */
export function finderOf(text: string, regex: boolean): Finder | undefined {
  if (!text) return undefined
  let pattern: RegExp
  try {
    pattern = new RegExp(regex ? text : text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi')
  } catch {
    return undefined
  }
  return line => {
    const out: [number, number][] = []
    for (const m of plainOf(line).matchAll(pattern)) {
      if (m[0] && out.push([m.index, m.index + m[0].length]) >= MOST) break
    }
    return out
  }
}

/** A line of the log stays one line with one number: breaks inside (<br> of XXL-JOB's executors too) become blanks. */
export function oneLine(line: string): string {
  return /<br|[\r\n]/i.test(line) ? line.replace(/\s*(?:<br\s*\/?>|[\r\n])\s*/gi, ' ').trimEnd() : line
}

/** How many columns a text takes: signs of East Asian scripts take two. */
export function columnsOf(text: string): number {
  let wide = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c >= 0x1100 && (c <= 0x115f || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0xff00 && c <= 0xff60))) wide++
    else if (c === 9) wide += 7
  }
  return text.length + wide
}

/** Rows before each line, and behind the last: lines[i] begins at row tops[i]. */
export function topsOf(lines: string[], columns: number): Uint32Array {
  const tops = new Uint32Array(lines.length + 1)
  for (let i = 0; i < lines.length; i++)
    tops[i + 1] = tops[i]! + Math.max(1, Math.ceil(columnsOf(plainOf(lines[i]!)) / Math.max(1, columns)))
  return tops
}

/** The line at a row, by halving. */
export function lineAt(tops: Uint32Array, row: number): number {
  let low = 0, high = tops.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (tops[middle]! <= row) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

const STAMP = /\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)([.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)(?!\d)/g

export const hasStamp = (line: string): boolean => new RegExp(STAMP.source).test(line)

/** The line with its times in a zone. Only times that name their own offset are instants. */
export function localTimes(line: string, format: (ms: number) => string): string {
  return line.replace(STAMP, (whole, stamp: string, part: string | undefined, offset: string) => {
    const ms = Date.parse(stamp.replace(' ', 'T') + offset.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2'))
    return Number.isNaN(ms) ? whole : format(ms) + (part ?? '').replace(',', '.')
  })
}
