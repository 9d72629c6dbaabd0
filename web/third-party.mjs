// SPDX-License-Identifier: Apache-2.0
// third-party.txt of the console: the npm packages whose code is in it, each with its licence. The bundler says which
// those are, so that what it has left out is not named, and what came along is. scripts/sbom.py reads the headings.
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'

// Code that tools put in by themselves: the beginning of a module's name, and whose it is.
const HELPERS = [['\0vite/', 'vite'], ['\0plugin-vue:', '@vitejs/plugin-vue'], ['\0commonjsHelpers', 'vite']]

/** The folder of the package that a module is of; undefined: it is ours. */
function home(id, root) {
  const helper = HELPERS.find(([begin]) => id.startsWith(begin))
  if (helper) return join(root, 'node_modules', helper[1])
  const path = id.replace(/^\0/, '').split('?')[0]
  const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)
  return found ? found[1] : undefined
}

function licence(folder) {
  const name = readdirSync(folder).sort().find(file => /^licen[cs]e(\.(md|txt))?$/i.test(file))
  if (!name) throw new Error(`third-party: ${folder} has no licence file`)
  const text = readFileSync(join(folder, name), 'utf8')
  // Vite's file goes on with the licences of what is in Vite itself
  return text.split('# Licenses of bundled dependencies')[0].trim()
}

export function thirdParty() {
  let root
  return {
    name: 'third-party',
    apply: 'build',
    configResolved(config) {
      root = config.root
    },
    generateBundle(_, bundle) {
      const ids = Object.values(bundle).flatMap(chunk => Object.entries(chunk.modules ?? {}))
        .filter(([id, module]) => module.renderedLength > 0 || id.includes('.css')).map(([id]) => id)
      const folders = new Set(ids.map(id => home(id, root)).filter(Boolean))
      // what we name ourselves may be nothing but a door to other packages, as vue is
      const {dependencies} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
      for (const name of Object.keys(dependencies)) folders.add(join(root, 'node_modules', name))
      const parts = [...folders].map(folder => {
        const {name, version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
        return {name, text: `==== ${name} ${version} (${license})\n\n${licence(folder)}\n`}
      })
      parts.sort((a, b) => (a.name < b.name ? -1 : 1))
      this.emitFile({
        type: 'asset', fileName: 'third-party.txt',
        source: 'The console of Peal has code of these packages in it.\n\n' + parts.map(part => part.text).join('\n'),
      })
    },
  }
}
