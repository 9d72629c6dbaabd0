// SPDX-License-Identifier: Apache-2.0
import vue from '@vitejs/plugin-vue'
import {fileURLToPath} from 'node:url'
import {defineConfig} from 'vitest/config'
import {thirdParty} from './third-party.mjs'

// Where `npm run dev` finds a server: PEAL=http://127.0.0.1:8080 npm run dev
const server = process.env.PEAL ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [vue(), thirdParty()],
  base: './', // the page's <base> says under which prefix it is served
  resolve: {alias: {'@': fileURLToPath(new URL('./src', import.meta.url))}},
  build: {
    target: 'es2022',
    assetsDir: 'a', // names with a hash: the server lets browsers keep them for ever
    assetsInlineLimit: 0, // the content security policy allows no data: scripts or fonts
    modulePreload: {polyfill: false},
    cssCodeSplit: true,
    reportCompressedSize: false,
  },
  server: {proxy: {'/api/v1': server}},
  test: {environment: 'happy-dom', include: ['test/**/*.test.ts']},
})
