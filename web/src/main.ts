// SPDX-License-Identifier: Apache-2.0
import {createApp} from 'vue'
import App from './app/App.vue'
import {router} from './app/router'
import {listen} from './lib/events'
import {loadLanguage} from './lib/i18n'
import {startClock} from './lib/time'
import './styles/tokens.css'
import './styles/base.css'

await loadLanguage()
startClock()
listen()
createApp(App).use(router).mount('#app')
