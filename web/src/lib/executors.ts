// SPDX-License-Identifier: Apache-2.0
// Groups and executors as screens order and name them.
import type {Schemas} from './http'

export type Group = Schemas['Group']
export type Executor = Schemas['Executor']
export type GroupState = 'nobody' | 'partly' | 'hangs' | 'full' | 'up' | 'empty'

export interface GroupRow {
  group: Group
  state: GroupState
  waiting: number
  inFlight: number
}

const RANK: Record<GroupState, number> = {nobody: 0, partly: 1, hangs: 1, full: 2, up: 3, empty: 4}

/** A lane is full when everything that may be sent at once is, and more waits. */
export const isFull = (e: Executor): boolean => e.lane.waiting > 0 && e.lane.inFlight >= e.lane.connectionsMax

const HANGS_MS = 60000
/** The state as a screen tells it. Who takes connections, owes answers and gave none of late is not well, whatever it
 * registers. */
export function shownState(e: Executor, now = Date.now()): Executor['state'] | 'hangs' {
  const hangs = e.state === 'up' && e.unknown > 0 && e.lastErrorMs != null && now - e.lastErrorMs < HANGS_MS
  return hangs ? 'hangs' : e.state
}

/** An empty group without jobs wants nothing; one with jobs has nobody to run them. */
export function stateOfGroup(group: Group, executors: Executor[]): GroupState {
  if (!group.up) return group.total || group.jobs ? 'nobody' : 'empty'
  if (group.up < group.total) return 'partly'
  if (executors.some(e => shownState(e) === 'hangs')) return 'hangs'
  return executors.some(isFull) ? 'full' : 'up'
}

export const ofGroup = (executors: Executor[], id: number): Executor[] => executors.filter(e => e.groups.some(g => g.id === id))

/** The bad ones first, then those with failing jobs, then by name. */
export function rowsOf(groups: Group[], executors: Executor[]): GroupRow[] {
  return groups.map(group => {
    const own = ofGroup(executors, group.id)
    return {group, state: stateOfGroup(group, own), waiting: own.reduce((n, e) => n + e.lane.waiting, 0), inFlight: own.reduce((n, e) => n + e.lane.inFlight, 0)}
  }).sort((a, b) => RANK[a.state] - RANK[b.state] || (b.group.failing ?? 0) - (a.group.failing ?? 0) || a.group.app.localeCompare(b.group.app))
}

/** What an executor of this group is told, to find this center. */
export function linesFor(app: string, center: string): {name: string, text: string}[] {
  return [
    {name: 'application.properties', text: `xxl.job.admin.addresses=${center}\nxxl.job.accessToken=TOKEN\nxxl.job.executor.appname=${app}\nxxl.job.executor.port=9999`},
    {name: 'Docker', text: `docker run --init \\\n  -e XXL_JOB_ADMIN_ADDRESSES=${center} \\\n  -e XXL_JOB_ACCESSTOKEN=TOKEN \\\n  -e XXL_JOB_EXECUTOR_APPNAME=${app} \\\n  -p 9999:9999 IMAGE`},
    {name: 'peal executor', text: `peal executor \\\n  --xxl.job.admin.addresses ${center} \\\n  --xxl.job.accessToken TOKEN \\\n  --xxl.job.executor.appname ${app}`},
  ]
}
