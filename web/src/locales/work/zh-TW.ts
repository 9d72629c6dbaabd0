// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {work as en} from './en'

export const work = {
  'job.not_started': p => `${p.name} 未能啟動：${p.why}`,
  'job.tab.script': '指令碼', 'script.versions': '版本', 'script.version': p => `版本 ${p.n}`, 'script.now': '目前執行', 'script.draft': '草稿',
  'script.diff': p => `版本 ${p.a} 與版本 ${p.b} 比較`, 'script.compare': '比較', 'script.compare_with': p => `與版本 ${p.n} 比較`, 'script.drop': '捨棄草稿', 'script.publish': '發佈',
  'script.restore': '還原', 'script.restore.title': p => `還原版本 ${p.n}？`, 'script.restore.text': '其內容將成為最新版本，不會遺失任何版本。', 'script.restores': p => `還原版本 ${p.n}`,
  'script.publish.title': '發佈草稿？', 'script.published': '已發佈，下次執行即採用。', 'script.newer': p => `您開始編輯後已發佈版本 ${p.n}，發佈時會詢問如何處理。`,
  'script.conflict': p => `在此期間已發佈版本 ${p.n}。`, 'script.theirs': '採用對方的，捨棄我的', 'script.mine': '以我的覆蓋發佈', 'script.remark': '備註', 'script.remark.note': '說明變更：4 至 100 個字元。',
  'script.read_only': '您可以檢視這個執行器的指令碼，但不能修改。',
} satisfies TextsOf<typeof en>
