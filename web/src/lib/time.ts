// SPDX-License-Identifier: Apache-2.0
// Instants and spans as text, in the zone and language of display. What is computed from a
// schedule comes from the server; here it is only shown.
import {computed, ref} from 'vue'
import {display} from './display'

export const now = ref(Date.now())
let clock = 0
/** The clock that counts down on screens ticks once a second while the page is seen. */
export function startClock(): void {
  clock ||= window.setInterval(() => { if (!document.hidden) now.value = Date.now() }, 1000)
}

const formats = computed(() => {
  const base = {timeZone: display.zone} as const
  return {
    time: new Intl.DateTimeFormat(display.language, {...base, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'}),
    day: new Intl.DateTimeFormat(display.language, {...base, weekday: 'short', day: 'numeric', month: 'short', year: 'numeric'}),
    short: new Intl.DateTimeFormat(display.language, {...base, day: 'numeric', month: 'short'}),
    key: new Intl.DateTimeFormat('sv-SE', {...base}),
    offset: new Intl.DateTimeFormat('en-US', {...base, timeZoneName: 'longOffset'}),
    ago: new Intl.RelativeTimeFormat(display.language, {numeric: 'always', style: 'short'}),
    now: new Intl.RelativeTimeFormat(display.language, {numeric: 'auto', style: 'short'}).format(0, 'second'),
  }
})

/** 14:32:08, and the milliseconds if asked. */
export function timeOf(ms: number, millis = false): string {
  const text = formats.value.time.format(ms)
  return millis ? text + '.' + String(((ms % 1000) + 1000) % 1000).padStart(3, '0') : text
}

export function dayOf(ms: number): string {
  return formats.value.day.format(ms)
}

/** 22 Nov */
export function dayShort(ms: number): string {
  return formats.value.short.format(ms)
}

/** 2026-11-22 in the zone of display */
export function dayKey(ms: number): string {
  return formats.value.key.format(ms)
}

/** The time if it is today, else with its day. */
export function whenOf(ms: number): string {
  const same = formats.value.key.format(ms) === formats.value.key.format(now.value)
  return same ? timeOf(ms) : formats.value.short.format(ms) + ' ' + timeOf(ms)
}

/** +01:00 at that instant. */
export function offsetOf(ms: number): string {
  const part = formats.value.offset.formatToParts(ms).find(p => p.type === 'timeZoneName')
  return part?.value.replace('GMT', '') || '+00:00'
}

/** All that there is to say of an instant: for hover texts. */
export function fullOf(ms: number): string {
  return `${dayOf(ms)} ${timeOf(ms, true)} ${display.zone} ${offsetOf(ms)} · ${new Date(ms).toISOString()}`
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86400000], ['hour', 3600000], ['minute', 60000], ['second', 1000]]

/** "in 5 min.", "2 h ago", "now": against the ticking clock, so it is counted anew each second. */
export function relativeOf(ms: number): string {
  const off = ms - now.value
  const [unit, size] = UNITS.find(u => Math.abs(off) >= u[1]) ?? UNITS[3]!
  return Math.abs(off) < 1000 ? formats.value.now : formats.value.ago.format(Math.trunc(off / size), unit)
}

/** Symbols where people read them, words where a language has short ones: 7 h, 7小时. */
function unitOf(value: number, unit: 'day' | 'hour' | 'minute' | 'second', symbol: string): string {
  const words = display.language.startsWith('zh')
  const form = new Intl.NumberFormat(display.language, {maximumFractionDigits: 1, ...words && {style: 'unit', unit}})
  return form.format(value) + (words ? '' : ' ' + symbol)
}

/** A span: 41.2 s, 3.1 ms, 10 h 57 min. At most two units, no more digits than the eye needs. */
export function spanOf(ms: number): string {
  const n = (value: number, unit: string) => new Intl.NumberFormat(display.language, {maximumFractionDigits: value < 10 ? 1 : 0}).format(value) + ' ' + unit
  if (ms < 1 && ms > 0) return n(ms * 1000, 'µs')
  if (ms < 1000) return n(ms, 'ms')
  if (ms < 60000) return unitOf(ms / 1000, 'second', 's')
  const s = Math.floor(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24)
  const days = unitOf(d, 'day', 'd'), hours = unitOf(h % 24, 'hour', 'h'), minutes = unitOf(m % 60, 'minute', 'min')
  if (d) return h % 24 ? `${days} ${hours}` : days
  if (h) return m % 60 ? `${hours} ${minutes}` : hours
  return s % 60 ? `${minutes} ${unitOf(s % 60, 'second', 's')}` : minutes
}

/** How long until then, in whole seconds: it is counted down once a second. */
export function untilOf(ms: number): string {
  const left = Math.max(0, Math.round((ms - now.value) / 1000))
  return left < 60 ? unitOf(left, 'second', 's') : spanOf(left * 1000)
}

export function numberOf(n: number): string {
  return new Intl.NumberFormat(display.language).format(n)
}

/** 12.3 MB, in powers of ten as disks are sold. */
export function bytesOf(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const at = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  return new Intl.NumberFormat(display.language, {style: 'unit', unit: units[at]!, maximumFractionDigits: 1}).format(bytes / 1000 ** at)
}
