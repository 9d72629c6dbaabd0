// SPDX-License-Identifier: Apache-2.0
// Who is logged in, and what this user may do. What one may not do is not offered; the server
// decides anyhow.
import {shallowRef} from 'vue'
import {display, LANGUAGES} from './display'
import {call, Problem, sessionEnded, type Schemas} from './http'
import {forgetAll} from './query'

type Me = Schemas['Me']
type Permission = Schemas['Permission']

export const me = shallowRef<Me>()
/** The session ended while screens were open: the login stands over them, nothing typed is lost. */
export const ended = shallowRef(false)

sessionEnded.heard = () => { if (me.value) ended.value = true }

function take(data: Me): void {
  if (me.value && me.value.user.id !== data.user.id) forgetAll()
  me.value = data
  ended.value = false
  const {language, theme, zone, density, shortcuts} = data.preferences
  const known = LANGUAGES.find(l => l === language)
  if (known) display.language = known
  if (theme) display.theme = theme
  if (zone) display.zone = zone
  if (density) display.density = density
  if (shortcuts !== undefined) display.shortcuts = shortcuts
}

/** Who am I: undefined without a session. */
export async function readSession(): Promise<Me | undefined> {
  try {
    take((await call<Me>('GET', '/session')).data)
  } catch (e) {
    if (!(e instanceof Problem) || e.status !== 401) throw e
    me.value = undefined
  }
  return me.value
}

export async function login(body: Schemas['Login']): Promise<void> {
  take((await call<Me>('POST', '/session', {body})).data)
}

export async function logout(): Promise<void> {
  await call('DELETE', '/session')
  me.value = undefined
  forgetAll()
}

/** Whether the user may do this: in that group, or in any if none is named. */
export function may(permission: Permission, group?: number): boolean {
  return me.value?.rights.some(r => r.permissions.includes(permission) &&
    (group === undefined || r.groups === null || r.groups.includes(group))) ?? false
}
