// SPDX-License-Identifier: Apache-2.0
// What a screen reads: one entry for each path, shared by all that show it. The old answer stays
// while a new one is on its way, a page that is hidden reads nothing, and 304 costs no rendering.
import {onScopeDispose, reactive, ref, toValue, watch, type MaybeRefOrGetter} from 'vue'
import {call, Problem} from './http'

interface Entry<T> {
  data: T | undefined
  etag: string
  problem: Problem | undefined
  loading: boolean
  readAt: number
}

const KEPT = 60 // entries; the oldest go
const entries = new Map<string, Entry<unknown>>()
const reading = new Map<string, Promise<void>>()

function entryOf(path: string): Entry<unknown> {
  let entry = entries.get(path)
  if (!entry) {
    entry = reactive({data: undefined, etag: '', problem: undefined, loading: false, readAt: 0})
    if (entries.size >= KEPT) entries.delete(entries.keys().next().value!)
  }
  entries.delete(path) // the newest is last
  entries.set(path, entry)
  return entry
}

function read(path: string): Promise<void> {
  const under = reading.get(path)
  if (under) return under
  const entry = entryOf(path)
  entry.loading = true
  const done = call<unknown>('GET', path, entry.etag ? {have: entry.etag} : {}).then(answer => {
    if (answer.status !== 304) {
      entry.data = answer.data
      entry.etag = answer.etag
    }
    entry.problem = undefined
    entry.readAt = Date.now()
  }, e => {
    entry.problem = e instanceof Problem ? e : new Problem(0, 'internal', String(e))
  }).finally(() => {
    entry.loading = false
    reading.delete(path)
  })
  reading.set(path, done)
  return done
}

/** Forget what was read of paths that begin so; what shows one reads it again. */
export function stale(prefix: string): void {
  for (const [path, entry] of entries)
    if (path.startsWith(prefix)) {
      entry.readAt = 0
      if (watched.get(path)) void read(path)
    }
}

/** The whole cache, when another user logs in. */
export function forgetAll(): void {
  entries.clear()
}

/** While the server's stream tells what changes, reading by the clock is only a safety net. */
export const live = ref(false)
const SLOWER = 5

const watched = new Map<string, number>()

export interface Query<T> {
  readonly data: T | undefined
  readonly etag: string
  readonly problem: Problem | undefined
  readonly loading: boolean
  readonly readAt: number
  again(): Promise<void>
}

/** Read a path of /api/v1, and again when it changes; `every` ms while the page is seen, 0: once. */
export function useQuery<T>(path: MaybeRefOrGetter<string | undefined>, every: MaybeRefOrGetter<number> = 0): Query<T> {
  const now = reactive<{entry: Entry<unknown> | undefined}>({entry: undefined})
  let path_ = ''
  let timer = 0

  function leave() {
    clearTimeout(timer)
    if (path_) watched.set(path_, (watched.get(path_) ?? 1) - 1)
    path_ = ''
  }
  function later() {
    clearTimeout(timer)
    const ms = toValue(every) * (live.value ? SLOWER : 1)
    if (ms > 0 && path_) timer = window.setTimeout(tick, ms)
  }
  async function tick() {
    const mine = path_
    if (mine && !document.hidden) await read(mine)
    if (mine === path_) later()
  }
  function enter(next: string | undefined) {
    leave()
    now.entry = next ? entryOf(next) : undefined
    if (!next) return
    path_ = next
    watched.set(next, (watched.get(next) ?? 0) + 1)
    void read(next)
    later()
  }
  watch(() => toValue(path), enter, {immediate: true})
  watch([() => toValue(every), live], later)
  onScopeDispose(leave)
  return {
    get data() { return now.entry?.data as T | undefined },
    get etag() { return now.entry?.etag ?? '' },
    get problem() { return now.entry?.problem },
    get loading() { return now.entry?.loading ?? false },
    get readAt() { return now.entry?.readAt ?? 0 },
    again: () => path_ ? read(path_) : Promise.resolve(),
  }
}

/** A path with those parameters that have a value. */
export function withParams(path: string, params: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params))
    if (value !== undefined && value !== '' && value !== false) search.set(name, String(value))
  const text = search.toString()
  return text ? path + '?' + text : path
}
