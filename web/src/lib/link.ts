// SPDX-License-Identifier: Apache-2.0
// Whether the server answers. When it does not, it is asked again with growing pauses, and what
// stands on the screens is read anew once it is back.
import {ref, shallowRef} from 'vue'
import {apiUrl, heardOf} from './http'
import {stale} from './query'

/** Since when nothing was heard, in milliseconds; 0: it answers. */
export const lostAt = ref(0)
/** When it is asked again. */
export const nextTry = ref(0)
let timer = 0, pause = 1000

heardOf.lost = () => {
  if (lostAt.value) return
  lostAt.value = Date.now()
  pause = 1000
  later()
}
heardOf.answer = () => {
  if (!lostAt.value) return
  lostAt.value = 0
  clearTimeout(timer)
  stale('')
}
function later() {
  clearTimeout(timer)
  nextTry.value = Date.now() + pause
  timer = window.setTimeout(tryNow, pause)
  pause = Math.min(15000, pause * 2)
}
export async function tryNow(): Promise<void> {
  try {
    await fetch(apiUrl('/session'), {cache: 'no-store', credentials: 'same-origin'})
    heardOf.answer()
  } catch {
    later()
  }
}

// A screen that is being edited is not reloaded under its user, nor left by a single letter.
const editing = new Set<symbol>()
export function beginEditing(): () => void {
  const mark = Symbol('editing')
  editing.add(mark)
  return () => { editing.delete(mark) }
}
export const isEditing = () => editing.size > 0

/** The build that this page came from; another one means that a new console is there. */
export const build = shallowRef('')
export const newBuild = ref(false)
export function heardBuild(text: string): void {
  if (!build.value) build.value = text
  else if (text !== build.value) newBuild.value = true
}
