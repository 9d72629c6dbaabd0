// SPDX-License-Identifier: Apache-2.0
// Where the lines of a log come from: pages until what is there has been read, then the stream, which
// the server feeds for all viewers with one poll. A server or a proxy without streams is asked for
// pages, at first every half second and then up to every three. A page that is hidden reads nothing.
import {apiUrl, call, Problem, type Schemas} from './http'
import {withParams} from './query'

type State = Schemas['LogPage']['state']

export interface LogSink {
  next(): number // the number of the line that is wanted next
  lines(lines: string[]): void
  state(state: State, end: boolean): void
  problem(problem: Problem | undefined): void
}

const PAGE = 5000

export class LogSource {
  private timer = 0
  private pause = 500
  private closed = false
  private ended = false
  private stream: EventSource | undefined
  private streams = true // as far as we know
  private silent = 0 // pages without a line, after the run ended

  constructor(private readonly run: number, private readonly sink: LogSink) {
    document.addEventListener('visibilitychange', this.seen)
    void this.page()
  }

  close(): void {
    this.closed = true
    document.removeEventListener('visibilitychange', this.seen)
    this.stop()
  }

  /** Ask anew, after a problem or because the run was sent again. */
  again(): void {
    if (this.closed) return
    this.stop()
    this.ended = false
    this.pause = 500
    void this.page()
  }

  private stop(): void {
    clearTimeout(this.timer)
    this.stream?.close()
    this.stream = undefined
  }

  private readonly seen = () => {
    if (document.hidden) this.stop()
    else if (!this.ended) this.again()
  }

  private end(): void {
    this.ended = true
    this.stop()
  }

  private async page(): Promise<void> {
    const from = this.sink.next()
    try {
      const {data} = await call<Schemas['LogPage']>('GET', withParams(`/runs/${this.run}/log`, {fromLine: from, limit: PAGE}))
      if (this.closed || from !== this.sink.next()) return
      this.sink.problem(undefined)
      if (data.lines.length) this.sink.lines(data.lines)
      this.silent = data.lines.length || data.state === 'running' || data.state === 'not_started' ? 0 : this.silent + 1
      const end = data.end || data.state === 'cleaned' || (data.state === 'finished' && this.silent > 1)
      this.sink.state(data.state, end)
      if (end) return this.end()
      if (data.lines.length >= PAGE) return void this.page()
      if (this.streams && data.state === 'running') return this.open()
      this.pause = data.lines.length ? 500 : Math.min(3000, this.pause * 1.5)
      this.later(this.pause)
    } catch (e) {
      if (this.closed) return
      this.sink.problem(e instanceof Problem ? e : new Problem(0, 'internal', String(e)))
      this.later(e instanceof Problem && e.status === 0 ? 2000 : 5000)
    }
  }

  private later(ms: number): void {
    clearTimeout(this.timer)
    if (!document.hidden) this.timer = window.setTimeout(() => void this.page(), ms)
  }

  private open(): void {
    if (document.hidden || typeof EventSource === 'undefined') return this.later(this.pause)
    const stream = new EventSource(apiUrl(withParams(`/runs/${this.run}/log/stream`, {fromLine: this.sink.next()})))
    let opened = false
    this.stream = stream
    stream.addEventListener('open', () => {
      opened = true
      this.sink.problem(undefined)
    })
    stream.addEventListener('lines', event => {
      const data = JSON.parse((event as MessageEvent<string>).data) as Schemas['EventLog']
      const skip = this.sink.next() - data.fromLine
      if (skip < 0) this.again() // lines are missing between: read them
      else if (skip < data.lines.length) this.sink.lines(skip ? data.lines.slice(skip) : data.lines)
    })
    stream.addEventListener('state', event => {
      const {state, end} = JSON.parse((event as MessageEvent<string>).data) as {state: State, end: boolean}
      this.sink.state(state, end)
      if (end) this.end()
    })
    stream.addEventListener('bye', () => this.again())
    stream.onerror = () => {
      if (this.stream !== stream) return
      if (!opened) this.streams = false // this server, or what is between, has none
      this.stop()
      this.later(opened ? 500 : this.pause)
    }
  }
}
