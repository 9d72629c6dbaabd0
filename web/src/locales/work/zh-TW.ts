// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {work as en} from './en'

export const work = {
  'jobs.changed': p => `${p.n} 項有變更，顯示`, 'jobs.daily': p => `每天 ${p.time}`, 'jobs.weekly': p => `${p.days} ${p.time}`, 'jobs.monthly': p => p.day === 'L' ? `每月最後一天 ${p.time}` : `每月 ${p.day} 日 ${p.time}`,
  'runs.new': p => `${p.n} 筆新紀錄`, 'runs.more': '更多篩選', 'runs.to': '結束時間', 'runs.job_id': '工作 ID', 'runs.code': '原因代碼', 'runs.min_took': '最短耗時（秒）', 'runs.flag.late': '遲發',
  'runs.flag.stuck': '長時間未結束', 'runs.flag.unknown': '結果不明', 'bulk.rerun': '再次執行這些？', 'bulk.kill': '終止這些執行？', 'clean.open': '清理…', 'clean.title': '清理排程日誌',
  'clean.text': '將刪除執行紀錄，且無法復原。', 'clean.rule': '範圍', 'clean.go': '刪除', 'clean.older_1_month': '一個月之前', 'clean.older_3_months': '三個月之前', 'clean.older_6_months': '六個月之前',
  'clean.older_12_months': '一年之前', 'clean.keep_1000': '除最新 1,000 筆以外', 'clean.keep_10000': '除最新 10,000 筆以外', 'clean.keep_30000': '除最新 30,000 筆以外', 'clean.keep_100000': '除最新 100,000 筆以外',
  'clean.all': '全部', 'clean.rows': p => `將刪除 ${p.n} 筆。`, 'clean.rows_over': p => `將刪除超過 ${p.n} 筆。`, 'clean.done': p => `已刪除 ${p.n} 筆。`,
  'jobs.handler': 'JobHandler', 'jobs.took_long': '超過平時的三倍', 'bulk.chosen': p => `已選 ${p.n} 項`, 'bulk.all': p => `選擇全部 ${p.n} 項`, 'bulk.none': '取消選擇',
  'bulk.here': '選擇本頁所有列', 'bulk.pick': p => `選擇 ${p.name}`, 'bulk.chip': p => `取消：${p.text}`, 'bulk.do.start': '啟動', 'bulk.do.stop': '停止', 'bulk.do.trigger': '立即執行',
  'bulk.do.set_owner': '負責人…', 'bulk.do.move_group': '移動…', 'bulk.do.delete': '刪除…', 'bulk.start': '啟動這些工作？', 'bulk.stop': '停止這些工作？', 'bulk.trigger': '立即執行這些工作？',
  'bulk.set_owner': '變更這些工作的負責人', 'bulk.move_group': '將這些工作移到其他執行器', 'bulk.delete': '刪除這些工作？', 'bulk.delete.text': '其排程日誌將一併刪除。十秒內可以撤回，之後無法復原。', 'bulk.trigger.text': '此操作無法復原。',
  'bulk.jobs': p => `${p.n} 個工作`, 'bulk.refused': p => `${p.n} 項遭拒絕`, 'bulk.type': p => `輸入 ${p.n} 以繼續`, 'bulk.go': p => `對 ${p.n} 項執行`, 'bulk.done': p => `已完成 ${p.n} 項。`,
  'bulk.held': p => `${p.n} 項將在 10 秒後刪除。`,
  'form.kind.every': '每隔…', 'form.kind.daily': '每天', 'form.kind.weekly': '每週', 'form.kind.monthly': '每月', 'form.kind.cron': 'Cron', 'form.kind.rate': '固定頻率',
  'form.kind.delay': '固定延遲', 'form.kind.once': '一次', 'form.kind.hand': '手動', 'form.unit': '單位', 'form.unit.second': '秒', 'form.unit.minute': '分鐘', 'form.unit.hour': '小時',
  'form.time': '時間', 'form.day': '日期', 'form.day.last': '最後一天', 'form.days': '星期', 'form.preview.none': '選擇後將在此說明。', 'form.backoff': '退避：每次間隔的倍數', 'form.tries': p => `執行時刻：${p.list}`,
  'form.save_run': '儲存並執行一次', 'form.handler.unknown': '這個執行器尚無工作使用此 JobHandler。', 'form.param.no_json': '看似 JSON，但格式不正確。', 'form.changed.same': '對方的修改與此處內容相同，請再次儲存。',
  'form.changes': '儲存後的變更', 'form.changed.field': '欄位', 'form.changed.was': '原值', 'form.changed.theirs': '對方', 'form.changed.mine': '我的', 'form.changed.take': '採用所選內容', 'route.FIRST': '第一台機器。',
  'route.LAST': '最後一台機器。', 'route.ROUND': '依序輪流。', 'route.RANDOM': '隨機一台。', 'route.CONSISTENT_HASH': '本工作固定使用同一台，只要其上線。', 'route.LEAST_FREQUENTLY_USED': '本工作使用次數最少的一台。',
  'route.LEAST_RECENTLY_USED': '本工作最久未使用的一台。', 'route.FAILOVER': '第一台心跳正常的機器。', 'route.BUSYOVER': '第一台未在執行本工作的機器。', 'route.SHARDING_BROADCAST': '所有機器，各取一個分片。',
  'block.SERIAL_EXECUTION': '後一次執行等待前一次結束。', 'block.DISCARD_LATER': '執行期間捨棄後來的，並記為失敗。', 'block.COVER_EARLY': '後一次執行會終止前一次。',
  'job.not_started': p => `${p.name} 未能啟動：${p.why}`,
  'job.tab.script': '指令碼', 'script.versions': '版本', 'script.version': p => `版本 ${p.n}`, 'script.now': '目前執行', 'script.draft': '草稿',
  'script.diff': p => `版本 ${p.a} 與版本 ${p.b} 比較`, 'script.compare': '比較', 'script.compare_with': p => `與版本 ${p.n} 比較`, 'script.drop': '捨棄草稿', 'script.publish': '發佈',
  'script.restore': '還原', 'script.restore.title': p => `還原版本 ${p.n}？`, 'script.restore.text': '其內容將成為最新版本，不會遺失任何版本。', 'script.restores': p => `還原版本 ${p.n}`,
  'script.publish.title': '發佈草稿？', 'script.published': '已發佈，下次執行即採用。', 'script.newer': p => `您開始編輯後已發佈版本 ${p.n}，發佈時會詢問如何處理。`,
  'script.conflict': p => `在此期間已發佈版本 ${p.n}。`, 'script.theirs': '採用對方的，捨棄我的', 'script.mine': '以我的覆蓋發佈', 'script.remark': '備註', 'script.remark.note': '說明變更：4 至 100 個字元。',
  'script.read_only': '您可以檢視這個執行器的指令碼，但不能修改。',
} satisfies TextsOf<typeof en>
