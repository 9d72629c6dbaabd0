// SPDX-License-Identifier: Apache-2.0
// The screens, each a chunk of its own. The address is the state: what one sees one can send. `needs` is the
// permission without which, in some group at least, a screen would stay empty.
import {createRouter, createWebHistory, type RouteLocationRaw} from 'vue-router'
import {withTexts} from '../lib/i18n'
import {me, readSession} from '../lib/session'

export const router = createRouter({
  history: createWebHistory(new URL(document.baseURI).pathname),
  scrollBehavior: (_to, _from, saved) => saved ?? {top: 0},
  routes: [
    {path: '/login', name: 'login', component: () => import('../views/Login.vue'), meta: {open: true}},
    {path: '/', name: 'overview', component: () => import('../views/Overview.vue'), meta: {needs: 'read'}},
    {path: '/upcoming', name: 'upcoming', component: () => import('../views/Upcoming.vue'), meta: {needs: 'read'}},
    {path: '/jobs', name: 'jobs', component: () => import('../views/Jobs.vue'), meta: {needs: 'read'}},
    {path: '/jobs/new', name: 'job-new', component: () => import('../views/JobForm.vue'), meta: {needs: 'jobs:write'}},
    {path: '/jobs/:id(\\d+)', name: 'job', component: () => import('../views/Job.vue'), meta: {needs: 'read'}},
    {path: '/jobs/:id(\\d+)/edit', name: 'job-edit', component: () => import('../views/JobForm.vue'), meta: {needs: 'jobs:write'}},
    {path: '/runs', name: 'runs', component: () => import('../views/Runs.vue'), meta: {needs: 'read'}},
    {path: '/runs/:id(\\d+)', name: 'run', component: () => import('../views/Run.vue'), meta: {needs: 'read'}},
    {path: '/executors', name: 'executors', component: () => import('../views/Executors.vue'), meta: {needs: 'read'}},
    {path: '/executors/-/:key([A-Za-z0-9_-]+)', name: 'executor', component: () => import('../views/Executor.vue'), meta: {needs: 'read'}},
    {path: '/executors/:group(\\d+)', name: 'group', component: () => import('../views/Group.vue'), meta: {needs: 'read'}},
    {path: '/alarms', name: 'alarms', component: () => withTexts('alarms', import('../views/Alarms.vue')), meta: {needs: 'read'}},
    {path: '/alarms/:id(\\d+)', name: 'alarm', component: () => withTexts('alarms', import('../views/Alarm.vue')), meta: {needs: 'read'}},
    {path: '/audit', name: 'audit', component: () => withTexts('admin', import('../views/Audit.vue')), meta: {needs: 'audit:read'}},
    {path: '/users', name: 'users', component: () => withTexts('admin', import('../views/Users.vue')), meta: {needs: 'users:admin'}},
    {path: '/users/:id(\\d+)', name: 'user', component: () => withTexts('admin', import('../views/User.vue')), meta: {needs: 'users:admin'}},
    {path: '/system', name: 'system', component: () => withTexts('admin', import('../views/System.vue')), meta: {needs: 'read'}},
    {path: '/me', name: 'me', component: () => withTexts('admin', import('../views/Me.vue'))},
    {path: '/:rest(.*)*', name: 'not-found', component: () => import('../views/NotFound.vue'), meta: {open: true}},
  ],
})

/** After login one goes where one wanted to go, if that is a path of this console. */
export function wanted(text: unknown): RouteLocationRaw {
  return typeof text === 'string' && /^\/(?!\/)/.test(text) ? text : '/'
}

router.beforeEach(async to => {
  if (to.meta.open) return true
  if (!me.value) {
    try {
      await readSession()
    } catch { /* the server is away: the screens say so themselves */
      return true
    }
  }
  if (!me.value) return {name: 'login', query: to.fullPath === '/' ? {} : {to: to.fullPath}}
  if (me.value.mustChangePassword && to.name !== 'me') return {name: 'me', query: {to: to.fullPath}}
  return true
})
