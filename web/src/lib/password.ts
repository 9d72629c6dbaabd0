// SPDX-License-Identifier: Apache-2.0
/** A password of 16 letters and digits, none of which looks like another. */
export function makePassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
  let text = ''
  while (text.length < 16)
    for (const byte of crypto.getRandomValues(new Uint8Array(32)))
      if (byte < 256 - 256 % letters.length && text.length < 16) text += letters[byte % letters.length]
  return text
}
