// SPDX-License-Identifier: Apache-2.0
// ANSI colours of a log line as spans of text with classes; never HTML. ECMA-48 SGR: the 16 colours
// are classes of the theme, 256 and true colours are values that the theme mixes with its ink; bold,
// faint, italic, underline. Other sequences vanish.
export interface Span {
  text: string
  classes: string
  colour?: string // of the text, as rgb()
  ground?: string // behind it
}

// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([ -/]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const CUBE = [0, 95, 135, 175, 215, 255]
const byte = (n: number | undefined) => Math.min(255, Math.max(0, Math.trunc(n ?? 0) || 0))

interface Pen {
  name: string // of the 16
  colour: string
  ground: string
  marks: Set<string>
}

/** The colour after 38 or 48: its name or value, and how many codes it took. */
function extended(codes: number[], at: number): {name: string, value: string, used: number} {
  if (codes[at + 1] === 2) return {name: '', value: `rgb(${byte(codes[at + 2])} ${byte(codes[at + 3])} ${byte(codes[at + 4])})`, used: 4}
  if (codes[at + 1] !== 5) return {name: '', value: '', used: 0}
  const n = byte(codes[at + 2])
  if (n < 16) return {name: 'c-' + COLOURS[n % 8], value: '', used: 2}
  if (n > 231) return {name: '', value: `rgb(${8 + 10 * (n - 232)} ${8 + 10 * (n - 232)} ${8 + 10 * (n - 232)})`, used: 2}
  const c = n - 16
  return {name: '', value: `rgb(${CUBE[Math.floor(c / 36)]} ${CUBE[Math.floor(c / 6) % 6]} ${CUBE[c % 6]})`, used: 2}
}

function apply(pen: Pen, codes: number[]): void {
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    if (code === 0) Object.assign(pen, {name: '', colour: '', ground: '', marks: new Set()})
    else if (code === 1) pen.marks.add('bold')
    else if (code === 2) pen.marks.add('faint')
    else if (code === 3) pen.marks.add('italic')
    else if (code === 4) pen.marks.add('underline')
    else if (code === 22) pen.marks.delete('bold'), pen.marks.delete('faint')
    else if (code === 23) pen.marks.delete('italic')
    else if (code === 24) pen.marks.delete('underline')
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) pen.name = 'c-' + COLOURS[code % 10], pen.colour = ''
    else if (code === 39) pen.name = pen.colour = ''
    else if (code === 49) pen.ground = ''
    else if (code === 38 || code === 48) {
      const {name, value, used} = extended(codes, i)
      i += used
      if (code === 48) pen.ground = value
      else pen.name = name, pen.colour = value
    }
  }
}

export function spansOf(line: string): Span[] {
  if (!line.includes('\u001b')) return [{text: line, classes: ''}]
  const spans: Span[] = [], pen: Pen = {name: '', colour: '', ground: '', marks: new Set()}
  let at = 0
  const push = (text: string) => {
    if (!text) return
    const classes = [pen.name, pen.colour && 'rgb', pen.ground && 'ground', ...pen.marks].filter(Boolean).join(' ')
    spans.push({text, classes, ...(pen.colour ? {colour: pen.colour} : {}), ...(pen.ground ? {ground: pen.ground} : {})})
  }
  for (const found of line.matchAll(SEQUENCE)) {
    push(line.slice(at, found.index))
    at = found.index + found[0].length
    if (found[3] === 'm') apply(pen, (found[1] || '0').split(/[;:]/).map(Number))
  }
  push(line.slice(at))
  return spans
}

/** The line as it is searched and copied. */
export function plainOf(line: string): string {
  return line.includes('\u001b') ? line.replace(SEQUENCE, '') : line
}

/** Mark the stretches of the line's plain text in its spans: what was found in it. */
export function markSpans(spans: Span[], stretches: [number, number][]): (Span & {found?: boolean})[] {
  if (!stretches.length) return spans
  const out: (Span & {found?: boolean})[] = []
  let from = 0
  for (const span of spans) {
    let at = 0
    for (const [begin, end] of stretches) {
      const a = Math.max(begin - from, at), b = Math.min(end - from, span.text.length)
      if (a >= b) continue
      if (a > at) out.push({...span, text: span.text.slice(at, a)})
      out.push({...span, text: span.text.slice(a, b), found: true})
      at = b
    }
    if (at < span.text.length) out.push({...span, text: span.text.slice(at)})
    from += span.text.length
  }
  return out
}
