// SPDX-License-Identifier: Apache-2.0
// Texts in three languages. A text is a string, or a function of its parameters that makes the
// whole sentence; a missing key or a wrong parameter does not compile. A language is a chunk of
// its own, loaded when it is chosen.
import {shallowRef, watch} from 'vue'
import type {en} from '../locales/en'
import {display, type Language} from './display'

type Texts = typeof en
/** What another language must have of these English texts. */
export type TextsOf<T> = {[K in keyof T]: T[K] extends (p: infer P) => string ? (p: P) => string : string}
export type Messages = TextsOf<Texts>
export type Key = keyof Texts
type PlainKey = {[K in Key]: Texts[K] extends string ? K : never}[Key]
type Params<K extends Key> = Texts[K] extends (p: infer P) => string ? [p: P] : []

const chunks: Record<Language, () => Promise<{messages: Messages}>> = {
  'en': () => import('../locales/en'),
  'zh-CN': () => import('../locales/zh-CN'),
  'zh-TW': () => import('../locales/zh-TW'),
}

const messages = shallowRef<Messages>()

/** Load the chosen language; the page waits for it before it is shown. */
export async function loadLanguage(): Promise<void> {
  const language = display.language
  const chunk = await chunks[language]()
  if (language === display.language) messages.value = chunk.messages
}
watch(() => display.language, () => void loadLanguage())

export function t<K extends Key>(key: K, ...p: Params<K>): string {
  const text = messages.value?.[key] as string | ((p: unknown) => string) | undefined
  if (text === undefined) return ''
  return typeof text === 'function' ? text(p[0]) : text
}

/** A text whose key is made from data: `fallback` where the language has none. */
export function tOf(key: string, fallback: string): string {
  const text = messages.value?.[key as PlainKey]
  return typeof text === 'string' ? text : fallback
}

/** The same, of a text that may have parameters. */
export function tWith(key: string, p: Record<string, unknown>, fallback: string): string {
  const text = messages.value?.[key as Key] as string | ((p: unknown) => string) | undefined
  return text === undefined ? fallback : typeof text === 'function' ? text(p) : text
}
