// SPDX-License-Identifier: Apache-2.0
// Calls of /api/v1. An answer that is no success becomes a Problem (RFC 9457), also when the
// connection broke: then its code is `disconnected`, and nothing is known of the request's fate.
import type {components} from './api'

export type Schemas = components['schemas']
export type FieldError = Schemas['FieldError']

export class Problem extends Error {
  status: number
  code: string
  detail: string
  errors: FieldError[]
  params: Record<string, unknown>
  requestId: string
  retryAfterMs: number

  constructor(status: number, code: string, detail: string, from: Partial<Schemas['Problem']> = {}) {
    super(detail || code)
    this.status = status
    this.code = code
    this.detail = detail
    this.errors = from.errors ?? []
    this.params = from.params ?? {}
    this.requestId = from.requestId ?? ''
    this.retryAfterMs = from.retryAfterMs ?? 0
  }
}

export interface Answer<T> {
  data: T
  etag: string
  status: number
}

export interface CallOptions {
  body?: unknown
  etag?: string // sent as If-Match
  have?: string // sent as If-None-Match: the answer is then 304, without data
  key?: string // Idempotency-Key
  patch?: boolean // the body is a merge patch
  signal?: AbortSignal
}

/** What hears of a session that has ended: set by session.ts. */
export const sessionEnded = {heard: () => {}}

/** What hears whether the server answers: set by link.ts. */
export const heardOf = {lost: () => {}, answer: () => {}}

/** When something was last changed from this page: lists show their own changes at once. */
export const wrote = {at: 0}

/** The address of a path of /api/v1, under whatever prefix the page is served. */
export function apiUrl(path: string): string {
  return new URL('api/v1' + path, document.baseURI).href
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = {Accept: 'application/json'}
  if (options.body !== undefined) headers['Content-Type'] = options.patch ? 'application/merge-patch+json' : 'application/json'
  if (options.etag) headers['If-Match'] = options.etag
  if (options.have) headers['If-None-Match'] = options.have
  if (options.key) headers['Idempotency-Key'] = options.key
  let answer: Response
  try {
    answer = await fetch(apiUrl(path), {
      method, headers, cache: 'no-store', credentials: 'same-origin', signal: options.signal ?? null,
      body: options.body === undefined ? null : JSON.stringify(options.body),
    })
  } catch (e) {
    if (options.signal?.aborted) throw e
    heardOf.lost()
    throw new Problem(0, 'disconnected', String((e as Error).message))
  }
  heardOf.answer()
  if (answer.ok || answer.status === 304) {
    if (method !== 'GET' && path !== '/session') wrote.at = Date.now()
    const json = (answer.headers.get('Content-Type') ?? '').includes('json') && answer.status !== 304
    return {data: (json ? await answer.json() : undefined) as T, etag: answer.headers.get('ETag') ?? '', status: answer.status}
  }
  const problem = await problemOf(answer)
  if (problem.status === 401 && path !== '/session') sessionEnded.heard()
  throw problem
}

async function problemOf(answer: Response): Promise<Problem> {
  let body: Partial<Schemas['Problem']> = {}
  try {
    body = await answer.json() as Schemas['Problem']
  } catch { /* a proxy's page: the status says enough */ }
  const problem = new Problem(answer.status, body.code ?? 'http_' + answer.status, body.detail ?? answer.statusText, body)
  const retry = Number(answer.headers.get('Retry-After'))
  if (!problem.retryAfterMs && retry > 0) problem.retryAfterMs = retry * 1000
  problem.requestId ||= answer.headers.get('Peal-Request-Id') ?? ''
  return problem
}

/** A key of one attempt to make something: the same attempt, sent again, makes it once. */
export function attemptKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, b => b.toString(16).padStart(2, '0')).join('')
}
