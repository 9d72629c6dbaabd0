// SPDX-License-Identifier: Apache-2.0
// Copying a text. Without TLS a page has no clipboard: then an old command copies a selection, and
// where that is refused the caller shows the text to be copied by hand.
import {t} from './i18n'
import {toast} from './toasts'

function bySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.className = 'hidden-text'
  const before = document.activeElement
  const place = before?.closest('[role=dialog]') ?? document.body // a dialog keeps the focus inside
  place.append(area)
  area.select()
  let done = false
  try {
    done = document.execCommand('copy')
  } catch { /* refused */ }
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}

/** Whether the text is on the clipboard now; says so. */
export async function copyText(text: string): Promise<boolean> {
  let done = false
  try {
    await navigator.clipboard.writeText(text)
    done = true
  } catch {
    done = bySelection(text)
  }
  if (done) toast(t('copied'))
  return done
}
