// SPDX-License-Identifier: Apache-2.0
import {expect, it} from 'vitest'
import {needsRead} from '../src/lib/rights'

it('a token that does something to jobs needs to find them', () => {
  expect(needsRead(['run'])).toBe(true)
  expect(needsRead(['audit:read', 'jobs:write'])).toBe(true)
  expect(needsRead(['read', 'audit:read'])).toBe(false)
})
