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

let failed = false
function gate(name, bytes, limit) {
  const over = bytes > limit * 1024
  failed ||= over
  console.log(`${over ? 'TOO LARGE' : 'ok       '} ${name}: ${kb(bytes)} KB of ${limit}`)
}
gate('first load', first.reduce((sum, f) => sum + size(f), 0), GATES.first)
for (const f of files.filter(f => f.startsWith('a/') && f.endsWith('.js') && !first.includes(f))) {
  const kind = /\/(en|zh-CN|zh-TW)-/.test(f) ? 'language' : /editor/i.test(f) ? 'editor' : 'route'
  gate(`${kind} ${f}`, size(f), GATES[kind])
}
gate('everything', files.reduce((sum, f) => sum + size(f), 0), GATES.all)
process.exit(failed ? 1 : 0)
