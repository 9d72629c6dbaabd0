// SPDX-License-Identifier: Apache-2.0
// Keys. A single letter does what the thing on the screen with that data-key does; so a key never
// does what cannot be seen. Letters are off in fields, and where the user has turned them off.
import {display} from './display'
import {isEditing} from './link'

export interface KeyTargets {
  palette(): void
  sheet(): void
  go(path: string): void
}

const GO: Record<string, string> = {o: '/', j: '/jobs', r: '/runs', e: '/executors', l: '/alarms', a: '/audit', u: '/upcoming', s: '/system'}

export function isField(element: EventTarget | null): boolean {
  return element instanceof HTMLElement && (element.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)) &&
    !(element instanceof HTMLInputElement && ['checkbox', 'radio', 'button'].includes(element.type))
}

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('main tbody tr, main [data-row]')].filter(row => row.querySelector('a[href]') && row.getClientRects().length)
}
function linkOf(row: HTMLElement): HTMLElement | null {
  return row.querySelector<HTMLElement>('a[data-open]') ?? row.querySelector<HTMLElement>('a[href]')
}
function step(by: number): void {
  const all = rows()
  const at = all.findIndex(row => row.contains(document.activeElement))
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]
  if (next) linkOf(next)?.focus()
}

/** The visible thing on the screen that has this key: in the row in focus first. */
function press(key: string): boolean {
  const row = document.activeElement?.closest('main tr, main [data-row]')
  const all = [...row?.querySelectorAll<HTMLElement>(`[data-key="${key}"]`) ?? [], ...document.querySelectorAll<HTMLElement>(`main [data-key="${key}"]`)]
  const found = all.find(x => x.getClientRects().length && !(x as HTMLButtonElement).disabled)
  if (!found) return false
  if (isField(found)) found.focus()
  else found.click()
  return true
}

/** What hears all keys of the window; returns what takes it away. */
export function listenToKeys(to: KeyTargets): () => void {
  let went = 0 // when g was pressed
  function heard(event: KeyboardEvent) {
    if (event.defaultPrevented || event.isComposing) return
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      to.palette()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !display.shortcuts || isField(event.composedPath()[0] ?? event.target)) return
    if (isEditing() || document.querySelector('[role=dialog], [role=menu]')) return
    const path = Date.now() - went < 1500 ? GO[event.key] : undefined
    went = 0
    if (path) to.go(path)
    else if (event.key === 'g') went = Date.now()
    else if (event.key === '?') to.sheet()
    else if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1)
    else if (event.key !== '/' && !/^[a-z]$/.test(event.key)) return
    else if (!press(event.key)) return
    event.preventDefault()
  }
  window.addEventListener('keydown', heard)
  return () => window.removeEventListener('keydown', heard)
}
