// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {center as en} from './en'

const n = (count: number) => count.toLocaleString('zh-TW')

export const center = {
  'nav.alarms': '告警', 'nav.open_alarms': ' 個告警未關閉', 'job.alarm': '為此工作設定告警…', 'job.silence': '靜音此工作…',
  'nav.overview': '概觀', 'nav.upcoming': '即將觸發', 'nav.bad_groups': ' 個執行器異常', 'link.lost': p => `自 ${p.time} 起連線中斷，${p.s} 秒後重試。畫面內容可能已過時；您的修改會留在這裡。`, 'link.ill': p => `排程中心異常。${p.what}`, 'link.new': '主控台有新版本。', 'link.reload': '重新載入',
  'not_permitted.title': '您無權檢視此頁', 'not_permitted.text': p => `需要您沒有的權限：${p.what}。可由管理員授予。`,
  'palette.title': '搜尋與指令', 'palette.placeholder': '搜尋或執行…', 'palette.hint': '#42 開啟工作 42，run:9006120 開啟執行，@app 開啟執行器', 'palette.choose': '選擇', 'palette.open': '開啟', 'palette.hits': '結果', 'palette.none': '沒有結果。', 'palette.recent': '最近開啟',
  'palette.jobs': '工作', 'palette.runs': '執行', 'palette.groups': '執行器', 'palette.commands': '指令', 'palette.run': '執行工作…', 'palette.go': p => `前往：${p.place}`, 'palette.zone': p => `以 ${p.zone} 顯示時間`,
  'keys.title': '快速鍵', 'keys.palette': '搜尋與指令', 'keys.filter': '前往篩選', 'keys.sheet': '本頁', 'keys.go': '前往概觀、工作、日誌、執行器、告警、即將觸發、稽核、系統', 'keys.rows': '下一列、上一列', 'keys.open': '開啟', 'keys.select': '選取該列', 'keys.new': '新增工作', 'keys.run': '執行、再次執行',
  'keys.start': '啟動或停止', 'keys.edit': '編輯', 'keys.log': '前往日誌', 'keys.follow': '跟隨', 'keys.save': '儲存表單', 'keys.close': '關閉',
  'yes': '是', 'no': '否', 'crumbs': '目前位置', 'permission.read': '檢視工作、執行與日誌', 'permission.run': '啟動、停止、執行、終止', 'permission.jobs:write': '新增與修改工作', 'permission.scripts:write': '修改指令碼',
  'permission.audit:read': '檢視稽核', 'permission.executors:write': '修改執行器', 'permission.users:admin': '管理使用者', 'permission.system:admin': '檢視設定與警告',
  'me.shortcuts': '單字母快速鍵', 'audit.changes': '變更前後', 'check.commit.not': '資料庫無法寫入；結果已保留。', 'check.schedule.not': '排程未能提前規劃。', 'check.running.not': '排程器沒有執行。', 'rule.required': '此項必填。', 'rule.text.length': p => p.max === undefined ? p.detail : p.min ? `${p.min} 至 ${n(p.max)} 個字元。` : `最多 ${n(p.max)} 個字元。`,
  'rule.text.bytes': p => p.max === undefined ? p.detail : `最多 ${n(p.max)} 位元組。`,
  'rule.token.known': '這是 XXL-JOB 文件中公開的權杖。', 'rule.token.center': '這是調度中心的權杖。', 'rule.text.visible': '只能使用 ASCII 字母、數字和符號，不含空格。',
  'rule.text.empty': '不能為空。', 'rule.text.comma': '此處不能有逗號。', 'rule.text.markup': '不能包含 < 或 >。', 'rule.number.range': p => p.min === undefined || p.max === undefined ? p.detail : `應為 ${n(p.min)} 至 ${n(p.max)} 的數。`, 'rule.type.integer': '應為整數。',
  'rule.type.number': '應為數字。',
  'rule.word': p => `此處只能是：${p.detail}`, 'rule.user.name': '以字母 a-z 開頭，其後為 a-z、0-9、「.」、「_」和「-」。', 'rule.password.wrong': '目前密碼不正確。', 'rule.password': '至少 4 個字元，首尾不能有空格。', 'rule.token.days': '只有管理員可以建立永久權杖。', 'rule.token.groups': '伺服器層級的權限適用於所有群組：請選擇所有群組，或去掉該權限。', 'rule.array.unique': '有重複項。',
  'rule.list.unique': '有重複項。', 'rule.list.length': '數量過少或過多。',
  'rule.group.exists': '請選擇存在的執行器。', 'rule.handler.needed': 'BEAN 工作需要 JobHandler 名稱。', 'rule.schedule.conf': p => `無法讀取這個排程：${p.detail}`, 'rule.zone': '未知的時區。', 'rule.child.exists': p => `工作 ${p.ids} 不存在。`, 'rule.child.permission': p => `您無權使用工作 ${p.ids}。`,
  'rule.child.list': '工作 ID，以逗號分隔。', 'rule.child.self': '工作不能是自己的子工作。', 'rule.child.cycle': p => `這些子工作會回到本工作：${p.ids}`, 'rule.address': '位址格式為 [http[s]://]主機[:連接埠][/路徑]，不含空格、逗號和查詢參數。',
  'rule.unknown': '伺服器不認識這個欄位。', 'rule.type.text': '應為文字。', 'rule.type.texts': '應為文字清單。', 'rule.type.ids': 'ID，以逗號分隔。', 'rule.type.boolean': '應為是或否。', 'rule.type.object': '這個部分的格式不正確。',
  'rule.silence.times': '結束時間應在未來，晚於開始時間，且在 90 天之內。',
  'rule.silence.place': '靜默屬於一個群組或一個工作，不能同時指定。',
  'rule.channel.name': '名稱最多 64 位元組，不含逗號，首尾不能有空格。', 'rule.rule.kind': '此類規則沒有這一項。', 'rule.rule.place': '規則屬於一個群組或一個工作，不能同時指定。', 'rule.rule.quiet': '兩個不同的時刻，例如 22:00 和 06:30。', 'rule.text.control': '此處不能有控制字元。',
  'rule.channel.setting': '此類通道不接受該值。',
  'rule.channel.taken': '該名稱是伺服器設定中的通道。',
  'rule.type.array': '應為清單。', 'rule.id': 'ID 應為整數。', 'rule.fixed': '不能變更。', 'rule.exists': '物件不存在，或您無權檢視。', 'rule.run': p => `無法這樣啟動執行：${p.detail}`, 'rule.list.empty': '至少需要一項。',
  'rule.list.registry': '自動註冊的執行器不能填寫位址。', 'rule.child.count': '子工作過多。', 'rule.schedule.over': '這個排程不會再觸發。', 'rule.text.encoding': '含有無法儲存的字元。',
  'rule.array.length': p => p.min === undefined || p.max === undefined ? p.detail : `應有 ${p.min} 至 ${p.max} 項。`, 'conf.at': p => `${p.field}（第 ${p.column} 欄）：${p.rule}`,
  'conf.range': p => `${p.value} 不在 ${p.min}–${p.max} 之內`, 'conf.number': '此處應為數字', 'conf.step': p => `此處間隔最大為 ${p.max}`, 'conf.name': p => `應為 ${p.first} 至 ${p.last} 的名稱`,
  'conf.sign': p => `此處不能有 ${p.sign}`, 'conf.none': '沒有值', 'conf.question': '? 只能用於日或週', 'conf.count': p => `有 ${p.n} 個欄位，應為 6 或 7 個：秒 分 時 日 月 週 [年]`, 'conf.days': '日與週之一必須為 ?，由另一個決定日期',
  'job.stop.once': '唯一的一次觸發已安排。', 'job.stop.over': '這個排程不會再觸發。', 'conf.code': p => `此處不能有編碼為 ${p.code} 的字元`, 'conf.centuries': '最長三個世紀', 'conf.large': '數字過大', 'conf.backwards': p => `年份範圍不能倒序：${p.first} 晚於 ${p.last}`, 'conf.after': p => `${p.value} 晚於最後一年 ${p.last}`,
  'conf.nth': '# 之後是當月第幾個，1–5',
  'conf.follow': '此處之後不能再有內容', 'conf.place': p => `${p.sign} 不能用於此欄位`, 'conf.back': 'L- 最多倒數 30 天', 'conf.alone': 'L 只能單獨使用，不能在清單中', 'conf.hash': '只能有一個 #', 'conf.ascii': p => `只能使用 ASCII 字元（第 ${p.column} 欄）`,
  'conf.bytes': p => `最多 ${p.max} 位元組`, 'conf.addresses': p => `最多 ${p.max} 個位址`, 'conf.address': p => `${p.address} 不是這個工作的執行器位址`,
  'conf.seconds': '應為整數秒（如 30）或毫秒（如 250ms）', 'conf.least': p => `至少 ${p.least}`, 'conf.once': '應為帶時差的時間，例如 2030-01-31T08:30:00+08:00',
} satisfies TextsOf<typeof en>
