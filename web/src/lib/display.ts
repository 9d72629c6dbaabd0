// SPDX-License-Identifier: Apache-2.0
// How this browser shows things: language, zone, theme. Kept here for the first paint and for a
// page without a session; the user's preferences at the server win after login.
import {reactive, watch} from 'vue'

export const LANGUAGES = ['en', 'zh-CN', 'zh-TW'] as const
export type Language = typeof LANGUAGES[number]
export type Theme = 'system' | 'light' | 'dark'

interface Display {
  language: Language
  theme: Theme
  zone: string
  density: 'comfortable' | 'compact'
  shortcuts: boolean // keys of a single letter
}

const KEY = 'peal.display'

/** The language of a BCP 47 tag that the console speaks, or undefined. */
export function languageOf(tag: string): Language | undefined {
  const low = tag.toLowerCase()
  if (/^zh\b/.test(low)) return /hant|tw|hk|mo/.test(low) ? 'zh-TW' : 'zh-CN'
  return low.startsWith('en') ? 'en' : undefined
}

function firstLanguage(): Language {
  for (const tag of navigator.languages ?? []) {
    const found = languageOf(tag)
    if (found) return found
  }
  return 'en'
}

function kept(): Partial<Display> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {}
  } catch {
    return {}
  }
}

const from = kept()
export const display = reactive<Display>({
  language: LANGUAGES.find(l => l === from.language) ?? firstLanguage(),
  theme: from.theme === 'light' || from.theme === 'dark' ? from.theme : 'system',
  zone: typeof from.zone === 'string' && from.zone ? from.zone : Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
  density: from.density === 'compact' ? 'compact' : 'comfortable',
  shortcuts: from.shortcuts !== false,
})

const dark = window.matchMedia?.('(prefers-color-scheme: dark)')

function paint(): void {
  const root = document.documentElement
  const theme = display.theme === 'system' ? (dark?.matches ? 'dark' : 'light') : display.theme
  root.dataset.theme = theme
  root.lang = display.language
  root.dataset.density = display.density
}

dark?.addEventListener?.('change', paint)
watch(display, () => {
  paint()
  try {
    localStorage.setItem(KEY, JSON.stringify(display))
  } catch { /* private mode: until the page is left */ }
})
paint()
