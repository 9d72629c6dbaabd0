// SPDX-License-Identifier: Apache-2.0
// The one field of a list's filter: words, and tokens such as state:stopped among them.
export interface Tokens<K extends string> {
  words: string
  filters: Partial<Record<K, string>>
}

/** Tokens of these names, taken out of the text; a value with blanks stands in quotation marks. */
export function tokensOf<K extends string>(text: string, names: readonly K[]): Tokens<K> {
  const filters: Partial<Record<K, string>> = {}
  const words = text.replace(/(^|\s)([a-z]+):(?:"([^"]*)"|(\S+))(?=\s|$)/g, (whole, before: string, name: string, quoted?: string, bare?: string) => {
    if (!names.includes(name as K)) return whole
    filters[name as K] = quoted ?? bare ?? ''
    return before
  })
  return {words: words.replace(/\s+/g, ' ').trim(), filters}
}
