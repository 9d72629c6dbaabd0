// SPDX-License-Identifier: Apache-2.0
// A list that is live, and whose rows stay where they are while one looks at them.

/** How many rows came, went or moved from one order of ids to another; those that are pushed along count as none. */
export function changesOf(shown: number[], now: number[]): number {
  const before = new Map(shown.map((id, at) => [id, at]))
  const ends: number[] = [] // of the longest rows of ids that kept their order: the last place of each length
  for (const id of now) {
    const at = before.get(id)
    if (at === undefined) continue
    const longer = ends.findIndex(end => end > at)
    ends[longer < 0 ? ends.length : longer] = at
  }
  return Math.max(shown.length, now.length) - ends.length
}
