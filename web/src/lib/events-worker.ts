// SPDX-License-Identifier: Apache-2.0
// The worker that all tabs share: one stream of events of the server, handed to each. It is closed a
// minute after the last tab was hidden, and opened when one is seen again. Lost, it comes back by
// itself and goes on behind the last event; refused, it is tried again each half minute.
const names = ['run', 'runs', 'executor', 'job', 'alarm', 'vitals', 'reset', 'bye']
const HIDDEN_MS = 60000, REFUSED_MS = 30000

interface Tab { port: MessagePort, visible: boolean }
const tabs = new Set<Tab>()
let stream: EventSource | undefined, url = '', isOpen = false
let closing: ReturnType<typeof setTimeout> | undefined, again: ReturnType<typeof setTimeout> | undefined

function tell(name: string, data = ''): void {
  for (const tab of tabs) tab.port.postMessage([name, data])
}
function close(): void {
  stream?.close()
  stream = undefined
  clearTimeout(again)
  if (isOpen) tell('lost')
  isOpen = false
}
function open(): void {
  if (stream || !url) return
  clearTimeout(again)
  const mine = stream = new EventSource(url)
  mine.onopen = () => {
    isOpen = true
    tell('open')
  }
  mine.onerror = () => {
    isOpen = false
    tell('lost')
    if (mine.readyState !== EventSource.CLOSED || stream !== mine) return
    stream = undefined
    again = setTimeout(look, REFUSED_MS)
  }
  for (const name of names) mine.addEventListener(name, event => tell(name, (event as MessageEvent<string>).data))
}
function look(): void {
  clearTimeout(closing)
  if ([...tabs].some(tab => tab.visible)) open()
  else closing = setTimeout(close, tabs.size ? HIDDEN_MS : 0)
}

(self as unknown as {onconnect: (event: MessageEvent) => void}).onconnect = event => {
  const tab: Tab = {port: event.ports[0]!, visible: true}
  tabs.add(tab)
  tab.port.onmessage = ({data}: MessageEvent<[string, string?]>) => {
    if (data[0] === 'open') {
      if (data[1] && data[1] !== url) {
        close()
        url = data[1]
      }
      if (isOpen) tab.port.postMessage(['open', ''])
    } else if (data[0] === 'close') tabs.delete(tab)
    else tab.visible = data[0] === 'seen'
    look()
  }
}
export {}
