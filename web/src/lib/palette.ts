// SPDX-License-Identifier: Apache-2.0
// What the words in the command palette ask for, and how well a text answers them.
export type Ask = {kind: 'job', id: number} | {kind: 'run', id: number} | {kind: 'group', words: string} | {kind: 'words', words: string}

/** #42 is a job, run:9006120 a run, @app a group; all else are words. */
export function askOf(text: string): Ask {
  const words = text.trim()
  const job = /^#(\d{1,15})$/.exec(words), run = /^run:\s*(\d{1,15})$/i.exec(words)
  if (job) return {kind: 'job', id: Number(job[1])}
  if (run) return {kind: 'run', id: Number(run[1])}
  if (words.startsWith('@')) return {kind: 'group', words: words.slice(1).trim()}
  return {kind: 'words', words}
}

/** 0: no answer; more is better: the whole begins so, a word begins so, it stands inside, its letters come in order. */
export function rank(words: string, text: string): number {
  const a = words.toLocaleLowerCase(), b = text.toLocaleLowerCase()
  if (!a) return 1
  if (b.startsWith(a)) return 4
  if (b.split(/[\s\-_./:()（）]+/).some(word => word.startsWith(a))) return 3
  if (b.includes(a)) return 2
  let at = 0
  for (const letter of a) {
    at = b.indexOf(letter, at) + 1
    if (!at) return 0
  }
  return a.length > 1 ? 1 : 0
}

const KEY = 'peal.recent', MOST = 8
export interface Recent {
  id: number
  name: string
  app: string
}

/** The jobs that were opened last in this browser, the newest first. */
export function recentJobs(): Recent[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter((x): x is Recent => Number.isInteger(x?.id) && typeof x.name === 'string' && typeof x.app === 'string') : []
  } catch {
    return []
  }
}
export function rememberJob(job: Recent): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([job, ...recentJobs().filter(x => x.id !== job.id)].slice(0, MOST)))
  } catch { /* private mode */ }
}
export function forgetRecent(): void {
  localStorage.removeItem(KEY)
}
