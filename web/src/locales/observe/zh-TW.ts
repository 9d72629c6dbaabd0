// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {observe as en} from './en'

const n = (count: number) => count.toLocaleString('zh-TW')
const percent = (p: number) => (p >= 99.95 || p === 0 ? p.toFixed(0) : p.toFixed(1)) + '%'

export const observe = {
  'chart.as_table': '表格', 'chart.as_chart': '圖表', 'chart.runs_note': p => `執行 ${n(p.n)} 次，成功 ${percent(p.percent)}`, 'chart.bar': p => `${p.at}：成功 ${n(p.good)}，失敗 ${n(p.bad)}`,
  'job.tab.history': '變更紀錄', 'job.next': '距下次觸發', 'job.curl': '複製為 curl', 'job.last_was': p => `最近一次：${p.outcome}`, 'job.fails': p => `最近一次執行未成功：${p.outcome}`, 'job.streak_of': p => `連續 ${p.count} 次`,
  'job.good_since': p => `此後成功 ${n(p.count)} 次`, 'job.never_failed': '這個工作從未失敗。', 'job.last60': '最近 60 次執行', 'job.days30': '最近 30 天', 'job.all_fires': '排程', 'job.stopped_fires': '工作已停止，啟動後才會觸發。',
  'job.hours': '各小時的執行次數', 'job.hours.note': '最近 8 天', 'job.hours.cell': p => `${p.hour}:00：執行 ${n(p.n)} 次`, 'job.family': '關聯工作', 'job.no_children': '沒有在其後觸發的工作。',
  'job.by_hand': '這個工作沒有排程，只由手動、API 或其他工作觸發。', 'job.give_schedule': '設定排程', 'job.fires.crowd': p => `同時還有 ${n(p.n)} 個工作`, 'job.fires.less': '顯示 10 次',
  'job.day': '未來 24 小時（依小時）', 'job.day.cell': p => `${p.hour}:00：觸發 ${n(p.n)} 次`, 'job.year.firings': '觸發次數', 'job.year.none': '無', 'job.year.one': '一次', 'job.year.more': '多次', 'job.year.clock': '時鐘調整',
  'job.preset': '預設', 'job.edit_field': p => `編輯：${p.field}`, 'job.field.retry_delay': '重試間隔', 'job.field.backoff': '重試退避倍數', 'job.field.deadline': '最遲開始',
  'job.history.none': '尚無變更。', 'job.history.center': '調度中心', 'job.history.field': '欄位', 'job.history.before': '變更前', 'job.history.after': '變更後', 'job.history.put_back': '還原', 'job.history.all': p => `顯示全部 ${p.n} 項變更`,
  'job.action.job.create': '新增了工作', 'job.action.job.update': '修改了工作', 'job.action.job.delete': '刪除了工作', 'job.action.job.start': '啟動了工作', 'job.action.job.stop': '停止了工作', 'job.action.run.trigger': '手動執行了工作', 'job.action.script.publish': '發布了指令碼',
  'job.via.console': '主控台', 'job.via.token': 'API 權杖', 'job.via.form_api': '表單 API', 'job.via.center': '調度中心本身', 'job.via.cli': '命令列',
  'cron.second': '秒', 'cron.minute': '分', 'cron.hour': '時', 'cron.day': '日', 'cron.month': '月', 'cron.weekday': '週', 'cron.year': '年',
  'warning.never_fires': '永遠不會觸發。', 'warning.gap': '時鐘會跳過這個時刻。', 'warning.overlap': '這個時刻會出現兩次。', 'warning.leap_day_only': '只在 2 月 29 日觸發。', 'warning.rare': '極少觸發。', 'warning.crowded': '同一秒有許多其他工作。', 'warning.dense': '觸發非常頻繁。',
  'warning.both_days': '同時設定了日與週：符合其一即觸發。', 'warning.zone_differs': '時區與伺服器不同。', 'warning.remedy.never_fires': '請修改運算式，或停止這個工作。', 'warning.remedy.leap_day_only': '日欄位中的 L 表示每月最後一天。', 'warning.remedy.crowded': '改用其他秒可以分散負載。',
  'cause.PE-1001': '遭執行器拒絕', 'cause.PE-1002': '沒有註冊的執行器', 'cause.PE-2001': '執行器不知其去向', 'cause.PE-2002': '執行逾時', 'cause.PE-2003': '遭使用者終止', 'cause.PE-3001': '工作失敗',
  'run.told.planned': p => `排定於 ${p.at} 觸發，尚未送出。`, 'run.told.open': p => `自 ${p.at} 起執行中。`, 'run.told.ended': p => `於 ${p.at} 結束，耗時 ${p.took}。`,
  'run.told.not_begun': p => `應於 ${p.at} 開始，但未能開始。`, 'run.told.is_retry': p => `這是先前執行的第 ${p.n} 次重試。`, 'run.told.retried': p => `已重試 ${p.n} 次。`,
  'run.told.next': p => `工作將在 ${p.span} 後（${p.at}）再次觸發。`, 'run.told.no_next': '不會自動重試。', 'run.whole_message': '完整訊息', 'run.changed': p => `此前 ${p.span} 由 ${p.who} 修改`,
  'run.same': p => p.n ? `另有 ${n(p.n)} 個工作同樣失敗` : '沒有其他工作這樣失敗', 'run.again.title': p => `再次執行 ${p.name}`, 'run.again.text': '將立即開始一次新的執行，並開啟其日誌。',
  'run.retry_of': p => `${p.id} 的重試`, 'run.parent': p => `由 ${p.id} 觸發`, 'run.others_there': '這台機器的其他執行', 'run.took_usual': p => `${p.took}，通常 ${p.usual}`,
  'run.facts.trace': '追蹤 ID', 'run.shards': '這次廣播的分片', 'story.ahead': p => `提前 ${p.span} 寫入磁碟。`, 'story.routed_by': p => `依 ${p.route} 選定 ${p.address}。`,
  'story.address': p => p.address, 'story.bytes': p => `${n(p.n)} 位元組。`, 'story.waited': p => `排隊等待 ${p.span}。`, 'story.attempt': p => `第 ${p.n} 次重試。`,
  'story.code': p => `結果代碼 ${p.code}。`, 'story.never': '未發生', 'story.run': p => `執行 ${p.id}`, 'log.regex': '規則運算式', 'log.bad_regex': '不是規則運算式', 'log.first_error': '第一個錯誤',
  'log.more': '顯示與下載', 'log.download_plain': '下載（不含色彩）', 'log.copy': '複製所選行或全部', 'log.copy_refused': '瀏覽器不允許在此複製，請改用下載。', 'log.local': '使用我的時區', 'log.announce': '朗讀新行',
  'log.cut': p => `前 ${n(p.n)} 行未保留於此，下載包含全部。`, 'log.from': p => `來自 ${p.address}，為所有檢視者只讀取一次`, 'log.lost_since': p => `自 ${p.time} 起連線中斷，正在重試；內容不會遺失。`,
  'log.why.rejected': '執行器未接收這次執行，沒有日誌。', 'log.why.not_started': '尚未開始執行。', 'log.why.executor_gone': '執行器已離線，無法讀取日誌。', 'log.why.cleaned': '執行器已刪除這份日誌。',
  'executors.new': '新增執行器', 'executors.edit': p => `編輯 ${p.app}`, 'executors.delete': '刪除執行器', 'executors.delete.text': '註冊到這個執行器的機器將不再可用。此操作無法復原。',
  'executors.delete.jobs': p => `其下還有 ${n(p.n)} 個工作，請先移走或刪除。`, 'executors.note': p => `${n(p.groups)} 個執行器，${n(p.addresses)} 個位址`, 'executors.search': 'AppName 或名稱',
  'executors.bad': '需要關注', 'executors.empty_filtered': '沒有符合條件的執行器。', 'executors.addresses': '機器位址', 'executors.addresses.note': '每行一個，例如 http://10.0.0.5:9999/。',
  'executors.failing_jobs': '失敗工作', 'executors.waiting': '等待中', 'executors.in_flight': '傳送中', 'executors.name': '名稱', 'executors.app.note': '4 至 64 個字元，機器以此註冊，之後不能修改。',
  'executors.app.fixed': '機器以此註冊，不能修改。', 'executors.addressing.registry.note': '機器自行回報位址。', 'executors.addressing.manual.note': '由您列出位址。', 'executors.since': '自',
  'executors.ago': p => `${p.span} 前`, 'executors.ours': 'Peal', 'executors.theirs': 'XXL-JOB', 'executors.source.registry': '自動註冊', 'executors.source.manual': '手動輸入',
  'executors.source.both': '註冊並輸入', 'executors.unknown': p => `${n(p.n)} 個結果不明`, 'executors.answers': p => `在 ${p.span} 後回應${p.said ? '：' + p.said : '。'}`,
  'executors.answers_not': p => `沒有回應${p.said ? '：' + p.said : '。'}`, 'executors.forget': '移除', 'executors.forget.title': p => `移除 ${p.address}？`,
  'executors.forget.text': '不再向其傳送工作；再次註冊後會自動恢復。', 'executors.forgotten': p => `已移除 ${p.address}。`, 'executors.how': '機器以此 AppName 註冊後即會出現在這裡。以下設定可讓其找到本調度中心：',
  'executors.token': 'TOKEN 為本調度中心的存取權杖，請向管理員索取。', 'executors.token_admin': 'TOKEN 為本調度中心的存取權杖：設定項 token，或資料目錄中的 token 檔案。', 'executors.all_jobs': '全部工作',
  'executors.all_runs': '全部執行', 'executors.no_jobs': '這個執行器下沒有工作。', 'executors.ran': '在此執行的工作', 'group.nobody': '全部離線', 'group.partly': '部分上線', 'group.full': '通道已滿',
  'group.up': '上線', 'group.empty': '空',
} satisfies TextsOf<typeof en>
