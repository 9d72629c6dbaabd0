// SPDX-License-Identifier: Apache-2.0
// What changes, as it changes: one stream of the server for all tabs of the browser, by a shared
// worker; where there is none, one a tab, which is closed a minute after the tab was hidden. What an
// event concerns is read again, each part at most once a second.
import {ref, shallowRef, watch} from 'vue'
import workerUrl from './events-worker?sharedworker&url'
import {apiUrl, type Schemas} from './http'
import {live, stale} from './query'
import {may, me} from './session'

type Data = {run: Schemas['EventRun'], runs: Schemas['EventRuns'], executor: Schemas['EventExecutor'], job: Schemas['EventJob'], alarm: Schemas['EventAlarm'], vitals: Schemas['EventVitals']}
export const NAMES = ['run', 'runs', 'executor', 'job', 'alarm', 'vitals', 'reset', 'bye'] as const
const HIDDEN_MS = 60000

/** The last vitals; undefined while nothing is heard. */
export const vitals = shallowRef<Schemas['EventVitals']>()
/** The paths that an event makes old. */
export function concerns<K extends keyof Data>(name: K, data: Data[K]): string[] {
  switch (name) {
    case 'run': {
      const run = data as Data['run']
      return ['/dashboard', '/runs?', `/runs/${run.id}`, `/jobs/${run.jobId}/stats`, '/jobs?']
    }
    case 'runs': return ['/dashboard', '/runs?', '/jobs?']
    case 'executor': return ['/dashboard', '/executors', '/groups']
    case 'job': return ['/dashboard', '/forecast', '/jobs?', `/jobs/${(data as Data['job']).id}`]
    case 'alarm': return ['/alarms', '/alarm-deliveries']
    default: return []
  }
}

const old = new Set<string>()
let timer = 0, last = 0, late = 0
function soon(paths: string[]): void {
  for (const path of paths) old.add(path)
  if (!timer && old.size) timer = window.setTimeout(flush, Math.max(100, last + 1000 - Date.now()))
}
function flush(): void {
  timer = 0
  last = Date.now()
  if (document.hidden) return // it reads again when it is seen
  for (const path of old) stale(path)
  // An answer of the dashboard is up to a second old: what came last is in the next one.
  if (old.has('/dashboard') && !late) late = window.setTimeout(() => { late = 0, stale('/dashboard') }, 1500)
  old.clear()
}

function heard(name: string, text: string): void {
  if (name === 'open') live.value = true
  else if (name === 'lost') live.value = false
  else if (name === 'reset') stale('')
  else if (name !== 'bye') {
    try {
      const data = JSON.parse(text) as Data[keyof Data]
      if (name === 'vitals') vitals.value = data as Data['vitals']
      else soon(concerns(name as keyof Data, data as never))
    } catch { /* an event of a newer server */ }
  }
}

/** The worker's own file is the only script that this page loads by its address. */
function trusted(url: string): string {
  type Policy = {createScriptURL(url: string): string}
  const types = (window as {trustedTypes?: {createPolicy(name: string, rules: Policy): Policy}}).trustedTypes
  return types ? types.createPolicy('peal-worker', {createScriptURL: given => given}).createScriptURL(url) : url
}

interface Line { close(): void, seen(visible: boolean): void }

let workerAt: string | undefined
function shared(): Line | undefined {
  if (typeof SharedWorker === 'undefined') return undefined
  try {
    const worker = new SharedWorker(workerAt ??= trusted(new URL(workerUrl, import.meta.url).href), {type: 'module', name: 'peal-events'})
    const {port} = worker
    port.onmessage = (event: MessageEvent<[string, string]>) => heard(event.data[0], event.data[1])
    port.postMessage(['open', apiUrl('/events')])
    const bye = () => port.postMessage(['close'])
    window.addEventListener('pagehide', bye)
    return {close: () => { window.removeEventListener('pagehide', bye), bye(), port.close() }, seen: visible => port.postMessage([visible ? 'seen' : 'hidden'])}
  } catch {
    return undefined
  }
}

function own(): Line {
  let stream: EventSource | undefined, closing = 0, dead = false
  function open() {
    if (stream || dead) return
    stream = new EventSource(apiUrl('/events'))
    stream.onopen = () => heard('open', '')
    stream.onerror = () => {
      heard('lost', '')
      if (stream?.readyState === EventSource.CLOSED) stream = undefined, dead = true // refused: screens read by themselves
    }
    for (const name of NAMES) stream.addEventListener(name, event => heard(name, (event as MessageEvent<string>).data))
  }
  function close() {
    stream?.close()
    stream = undefined
    heard('lost', '')
  }
  open()
  return {close, seen(visible) {
    clearTimeout(closing)
    if (visible) open()
    else closing = window.setTimeout(close, HIDDEN_MS)
  }}
}

let line: Line | undefined
const begun = ref(false)
/** Listen while somebody is logged in. */
export function listen(): void {
  if (begun.value || typeof EventSource === 'undefined') return
  begun.value = true
  document.addEventListener('visibilitychange', () => {
    line?.seen(!document.hidden)
    if (!document.hidden && old.size) soon([])
  })
  watch(() => me.value && !me.value.mustChangePassword && may('read') ? me.value.user.id : undefined, id => {
    line?.close()
    line = undefined
    live.value = false
    vitals.value = undefined
    if (id !== undefined) line = shared() ?? own()
  }, {immediate: true})
}
