// SPDX-License-Identifier: Apache-2.0
// The gates of the console's size, gzip -9, in KB: what a build may weigh. Run after vite build.
import {readFileSync, readdirSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'

const dist = 'dist'
const GATES = {first: 150, route: 45, editor: 130, language: 15, all: 600}

const files = readdirSync(dist, {recursive: true}).map(String)
  .filter(f => statSync(join(dist, f)).isFile() && !f.endsWith('.txt'))
const size = f => f.endsWith('.woff2') ? statSync(join(dist, f)).size : gzipSync(readFileSync(join(dist, f)), {level: 9}).length
const kb = n => Math.round(n / 102.4) / 10
const html = readFileSync(join(dist, 'index.html'), 'utf8')
const first = files.filter(f => f === 'index.html' || html.includes(f))

// The largest of each kind, and each that is too large.
let failed = false
const largest = {}
function gate(kind, name, bytes) {
  const text = `${name}: ${kb(bytes)} KB of ${GATES[kind]}`
  if (bytes > GATES[kind] * 1024) {
    failed = true
    console.log(`TOO LARGE ${text}`)
  }
  if (bytes > (largest[kind]?.bytes ?? 0))
    largest[kind] = {bytes, text}
}
const total = of => of.reduce((sum, f) => sum + size(f), 0)
gate('first', 'first load', total(first))
for (const f of files.filter(f => f.startsWith('a/') && f.endsWith('.js') && !first.includes(f))) {
  const kind = /\/(en|zh-CN|zh-TW)-/.test(f) ? 'language' : /editor/i.test(f) ? 'editor' : 'route'
  gate(kind, `${kind} ${f}`, size(f))
}
gate('all', 'everything', total(files))
console.log('the largest, gzip:\n' + Object.values(largest).map(l => `  ${l.text}`).join('\n'))
process.exit(failed ? 1 : 0)
