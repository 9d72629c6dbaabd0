// SPDX-License-Identifier: Apache-2.0
// ANSI colours of a log line as spans of text with classes; never HTML. ECMA-48 SGR: the 16 colours,
// bold, faint, underline; 256 and true colours are read and left out. Other sequences vanish.
export interface Span {
  text: string
  classes: string
}

// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([ -/]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

export function spansOf(line: string): Span[] {
  if (!line.includes('\u001b')) return [{text: line, classes: ''}]
  const spans: Span[] = []
  let colour = '', marks = new Set<string>(), at = 0
  const push = (text: string) => {
    if (text) spans.push({text, classes: [colour, ...marks].filter(Boolean).join(' ')})
  }
  for (const found of line.matchAll(SEQUENCE)) {
    push(line.slice(at, found.index))
    at = found.index + found[0].length
    if (found[3] !== 'm') continue
    const codes = (found[1] || '0').split(/[;:]/).map(Number)
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i]!
      if (code === 0) colour = '', marks = new Set()
      else if (code === 1) marks.add('bold')
      else if (code === 2) marks.add('faint')
      else if (code === 4) marks.add('underline')
      else if (code === 22) marks.delete('bold'), marks.delete('faint')
      else if (code === 24) marks.delete('underline')
      else if (code >= 30 && code <= 37) colour = 'c-' + COLOURS[code - 30]
      else if (code >= 90 && code <= 97) colour = 'c-' + COLOURS[code - 90]
      else if (code === 39) colour = ''
      else if (code === 38 || code === 48) i += codes[i + 1] === 5 ? 2 : 4
    }
  }
  push(line.slice(at))
  return spans
}

/** The line as it is searched and copied. */
export function plainOf(line: string): string {
  return line.includes('\u001b') ? line.replace(SEQUENCE, '') : line
}
