// SPDX-License-Identifier: Apache-2.0
// Filters live in the address of the screen: a copy of the address is a copy of the view.
import {computed, ref, watch, type Ref} from 'vue'
import {useRoute, useRouter} from 'vue-router'

type Filters<K extends string> = {[key in K]: Ref<string>} & {any: Ref<boolean>, clear: () => void}

/** One writable text for each name; a change goes to the address and drops the page's cursor. */
export function useFilters<K extends string>(...names: K[]): Filters<K> {
  const route = useRoute()
  const router = useRouter()
  const value = (name: string) => typeof route.query[name] === 'string' ? route.query[name] as string : ''
  const out = {} as Record<string, Ref<string>>
  for (const name of names)
    out[name] = computed({
      get: () => value(name),
      set: text => void router.replace({query: {...route.query, [name]: text || undefined, cursor: undefined}}),
    })
  const any = computed(() => names.some(name => value(name)))
  const clear = () => void router.replace({query: {}})
  return {...out, any, clear} as Filters<K>
}

/** A text that follows the typing at once, and hands it on when the typing pauses. */
export function useTyped(target: Ref<string>, ms = 300): Ref<string> {
  const typed = ref(target.value)
  let timer = 0
  watch(typed, text => {
    clearTimeout(timer)
    timer = window.setTimeout(() => { if (target.value !== text.trim()) target.value = text.trim() }, ms)
  })
  watch(target, text => { if (text !== typed.value.trim()) typed.value = text })
  return typed
}
