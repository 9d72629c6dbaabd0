// SPDX-License-Identifier: Apache-2.0
// What was chosen in a list, and which jobs had which value before a change, to give it back.
import {computed, reactive} from 'vue'
import {call, type Schemas} from './http'
import {withParams} from './query'

export const BULK_MOST = 1000 // of one request

export function useChosen(ids: () => number[]) {
  const chosen = reactive(new Set<number>())
  let last = -1
  /** With Shift all rows from the last that was chosen follow. */
  function choose(id: number, on: boolean, range: boolean) {
    const all = ids(), at = all.indexOf(id)
    const from = range && last >= 0 ? Math.min(last, at) : at
    for (const one of all.slice(from, Math.max(range ? last : at, at) + 1)) if (on) chosen.add(one); else chosen.delete(one)
    last = at
  }
  const allHere = computed(() => ids().length > 0 && ids().every(id => chosen.has(id)))
  function chooseHere(on: boolean) {
    for (const id of ids()) if (on) chosen.add(id); else chosen.delete(id)
  }
  return {chosen, choose, allHere, chooseHere}
}

/** The ids of all that a filter finds, BULK_MOST at most. */
export async function idsOf(path: string, params: Record<string, string | number | undefined>): Promise<number[]> {
  const ids: number[] = []
  let cursor: string | undefined
  do {
    const {data} = await call<{items: {id: number}[], page: Schemas['Page']}>('GET', withParams(path, {...params, fields: 'id', limit: 500, cursor}))
    ids.push(...data.items.map(x => x.id))
    cursor = data.page.next ?? undefined
  } while (cursor && ids.length < BULK_MOST)
  return ids.slice(0, BULK_MOST)
}

/** Ids by the value that they had: one request back for each. */
export function byValue<T, V>(items: T[], idOf: (item: T) => number, valueOf: (item: T) => V): Map<V, number[]> {
  const out = new Map<V, number[]>()
  for (const item of items) out.set(valueOf(item), [...out.get(valueOf(item)) ?? [], idOf(item)])
  return out
}
