// SPDX-License-Identifier: Apache-2.0
// What roles may do, as the server has it (src/model/rights.h): shown, never decided here.
import type {Schemas} from './http'

type Permission = Schemas['Permission']
export const ROLES: Schemas['Role'][] = ['viewer', 'operator', 'editor', 'developer']
export const CENTERS: Schemas['Center'][] = ['none', 'auditor', 'admin']
export const PERMISSIONS: Permission[] = ['read', 'run', 'jobs:write', 'scripts:write', 'audit:read', 'executors:write', 'users:admin', 'system:admin']

/** Whether a token with these is of no use without `read`: it would find no job and no group to do it to. */
export const needsRead = (permissions: Permission[]) => permissions.some(p => ['run', 'jobs:write', 'scripts:write', 'executors:write'].includes(p))

/** The permissions of a role, or of a place at the center. */
export function permissionsOf(role: Schemas['Role'] | Schemas['Center']): Permission[] {
  const at = ROLES.indexOf(role as Schemas['Role'])
  if (at >= 0) return PERMISSIONS.slice(0, at + 1)
  return role === 'admin' ? PERMISSIONS : role === 'auditor' ? ['read', 'audit:read'] : []
}
