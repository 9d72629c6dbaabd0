// SPDX-License-Identifier: Apache-2.0
// Names of jobs that rules and silences know by their ids. Each is asked for once; a job that has gone, or is out of the
// user's sight, stays its number.
import {reactive, watch} from 'vue'
import {call, type Schemas} from './http'

const names = reactive(new Map<number, string>())
const asked = new Set<number>()

async function ask(id: number): Promise<void> {
  if (asked.has(id)) return
  asked.add(id)
  try {
    names.set(id, (await call<Schemas['Job']>('GET', `/jobs/${id}`)).data.name)
  } catch {
    asked.delete(id) // the next list asks again
  }
}

/** What to call a job; ids: of those that the screen shows. */
export function useJobNames(ids: () => (number | null | undefined)[]): (id: number) => string {
  watch(ids, list => { for (const id of list) if (id) void ask(id) }, {immediate: true})
  return id => names.get(id) ?? '#' + id
}
