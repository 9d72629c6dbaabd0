// SPDX-License-Identifier: Apache-2.0
// Texts in three languages. A text is a string, or a function of its parameters that makes the
// whole sentence; a missing key or a wrong parameter does not compile. A language is a chunk, and
// areas of screens have one of their own each, loaded with the first of these screens.
import {shallowRef, watch} from 'vue'
import type {en} from '../locales/en'
import type {messages as admin} from '../locales/admin/en'
import type {messages as alarms} from '../locales/alarms/en'
import {display, type Language} from './display'

type Texts = typeof en & typeof admin & typeof alarms
/** What another language must have of these English texts. */
export type TextsOf<T> = {[K in keyof T]: T[K] extends (p: infer P) => string ? (p: P) => string : string}
export type Messages = TextsOf<typeof en>
export type Key = keyof Texts
type PlainKey = {[K in Key]: Texts[K] extends string ? K : never}[Key]
type Params<K extends Key> = Texts[K] extends (p: infer P) => string ? [p: P] : []

type Area = 'all' | 'admin' | 'alarms'
type Chunk = () => Promise<{messages: object}>
const chunks: Record<Area, Record<Language, Chunk>> = {
  all: {
    'en': () => import('../locales/en'),
    'zh-CN': () => import('../locales/zh-CN'),
    'zh-TW': () => import('../locales/zh-TW'),
  },
  admin: {
    'en': () => import('../locales/admin/en'),
    'zh-CN': () => import('../locales/admin/zh-CN'),
    'zh-TW': () => import('../locales/admin/zh-TW'),
  },
  alarms: {
    'en': () => import('../locales/alarms/en'),
    'zh-CN': () => import('../locales/alarms/zh-CN'),
    'zh-TW': () => import('../locales/alarms/zh-TW'),
  },
}

const messages = shallowRef<Partial<TextsOf<Texts>>>()
const areas = new Set<Area>(['all']) // those of screens that were opened

/** Load the chosen language; the page waits for it before it is shown. */
export async function loadLanguage(): Promise<void> {
  const {language} = display, wanted = [...areas]
  const loaded = await Promise.all(wanted.map(area => chunks[area][language]()))
  if (language === display.language && wanted.length === areas.size) messages.value = Object.assign({}, ...loaded.map(l => l.messages))
}
watch(() => display.language, () => void loadLanguage())

/** A screen together with the texts of its area. */
export async function withTexts<T>(area: Area, screen: Promise<T>): Promise<T> {
  areas.add(area)
  const [it] = await Promise.all([screen, loadLanguage()])
  return it
}

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

/** What settings do, by their keys; undefined: the server's own English words. */
export async function settingTexts(language: Language): Promise<Record<string, string> | undefined> {
  switch (language) {
    case 'zh-CN': return (await import('../locales/settings/zh-CN')).settings
    case 'zh-TW': return (await import('../locales/settings/zh-TW')).settings
    default: return undefined
  }
}
