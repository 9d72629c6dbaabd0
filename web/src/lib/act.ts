// SPDX-License-Identifier: Apache-2.0
// One thing that the user does at a time: busy while it is under way, its problem when it failed.
import {ref, shallowRef} from 'vue'
import {Problem} from './http'

export function useAct() {
  const busy = ref(false), problem = shallowRef<Problem>()
  /** True: done. A problem is kept to be shown; any other error is a fault of ours, and thrown. */
  async function act(what: () => Promise<unknown>): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    problem.value = undefined
    try {
      await what()
      return true
    } catch (e) {
      if (!(e instanceof Problem)) throw e
      problem.value = e
      return false
    } finally {
      busy.value = false
    }
  }
  return {busy, problem, act}
}
