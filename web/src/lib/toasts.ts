// SPDX-License-Identifier: Apache-2.0
// What was just done, for ten seconds, with a way back if there is one. A toast never holds the
// only copy of a text: a failure stands where it happened.
import {reactive} from 'vue'

export interface Toast {
  id: number
  text: string
  action?: {text: string, run: () => unknown}
}

export const toasts = reactive<Toast[]>([])
let last = 0

export function toast(text: string, action?: Toast['action']): void {
  const id = ++last
  toasts.push({id, text, ...(action ? {action} : {})})
  window.setTimeout(() => dismiss(id), 10000)
}

export function dismiss(id: number): void {
  const i = toasts.findIndex(x => x.id === id)
  if (i >= 0) toasts.splice(i, 1)
}
