// SPDX-License-Identifier: Apache-2.0
import {onUnmounted, watchEffect} from 'vue'

/** The title of the document while the screen stands. */
export function useTitle(text: () => string | undefined): void {
  onUnmounted(watchEffect(() => {
    const now = text()
    document.title = now ? now + ' – Peal' : 'Peal'
  }))
}
