// SPDX-License-Identifier: Apache-2.0
import {expect, it} from 'vitest'
import {tokensOf} from '../src/lib/tokens'

const NAMES = ['group', 'state', 'owner'] as const

it.each([
  ['group:pay state:stopped refund', {words: 'refund', filters: {group: 'pay', state: 'stopped'}}],
  ['nightly owner:"a b" run', {words: 'nightly run', filters: {owner: 'a b'}}],
  ['http://host other:x', {words: 'http://host other:x', filters: {}}],
  ['state:', {words: 'state:', filters: {}}],
  ['', {words: '', filters: {}}],
])('%s is taken apart', (text, found) => expect(tokensOf(text, NAMES)).toEqual(found))
