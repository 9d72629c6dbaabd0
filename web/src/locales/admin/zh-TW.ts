// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {messages as en} from './en'

const n = (count: number) => count.toLocaleString('zh-TW')

export const messages = {
  'density': '清單密度', 'density.comfortable': '寬鬆', 'density.compact': '緊湊',
  'role.viewer': '檢視者', 'role.operator': '操作員', 'role.editor': '編輯者', 'role.developer': '開發者', 'role.none': '無', 'role.auditor': '稽核員', 'role.admin': '管理員',
  'users.title': '使用者', 'users.search': '使用者名稱', 'users.new': '新增使用者', 'users.add': '新增', 'users.name': '使用者名稱', 'users.name.note': '4 至 20 個字元：以字母開頭，其後為 a-z、0-9、「.」、「_」和「-」。',
  'users.center': '整個排程中心', 'users.center.none': '僅有下列授權。', 'users.center.auditor': '可檢視全部內容與稽核；除下列授權外不能做任何變更。', 'users.center.admin': '可執行所有操作，包括管理使用者。',
  'users.grants': '授權', 'users.no_grants': '沒有授權：這位使用者看不到任何工作。', 'users.add_grant': '新增授權', 'users.take': p => `取消：${p.role}`, 'users.role': '角色', 'users.where': '適用的執行器', 'users.some_groups': '以下執行器',
  'users.last_login': '上次登入', 'users.never': '從未', 'users.sessions': '工作階段', 'users.matrix': '各角色的權限', 'users.empty_filtered': '沒有這樣的使用者名稱。', 'users.made': p => `${p.name} 現在可以登入`,
  'users.once': '僅顯示這一次，請以安全的方式轉交。', 'users.saved': p => `${p.name} 的權限已儲存。`, 'users.rights': '權限', 'users.account': '帳號', 'users.created': '建立時間', 'users.audit': '這位使用者的操作',
  'users.own_rights': '不能修改自己的權限，請由其他管理員修改。', 'users.password': '重設密碼…', 'users.password.title': p => `為 ${p.name} 產生新密碼？`, 'users.password.text': '新密碼在此產生並僅顯示一次，這位使用者的所有工作階段將結束。', 'users.password.make': '產生',
  'users.delete': '刪除', 'users.delete.title': p => `刪除 ${p.name}？`, 'users.delete.text': '工作階段與權杖立即失效；工作與稽核保留。', 'users.deleted': p => `${p.name} 已刪除。`, 'users.not_oneself': '不能刪除自己的帳號。',
  'me.display': '顯示方式', 'me.must_change': '您的密碼是自動產生的。請先改為自己的密碼再繼續。', 'me.password': '密碼', 'me.password.old': '目前密碼', 'me.password.new': '新密碼', 'me.password.again': '再次輸入新密碼',
  'me.password.differ': '兩次輸入的新密碼不一致。', 'me.password.change': '變更密碼', 'me.password.changed': '密碼已變更，其他工作階段已結束。', 'me.sessions': '登入的位置', 'me.session.since': '始於', 'me.session.until': '至', 'me.session.this': '目前的', 'me.session.end': '結束',
  'me.session.end_of': p => `結束來自 ${p.address} 的工作階段`,
  'tokens.title': '存取權杖', 'tokens.empty': '權杖供程式以您的名義呼叫 API，其權限不超過您的權限。', 'tokens.new': '新增權杖', 'tokens.make': '建立權杖', 'tokens.name': '用途', 'tokens.permissions': '可以', 'tokens.read_along': '同時包含 read：沒有它，權杖找不到工作。', 'tokens.groups': '範圍',
  'tokens.all_groups': '您可見的所有執行器',
  'tokens.days': '有效天數', 'tokens.days.note': '0 表示永久有效。', 'tokens.until': '有效至', 'tokens.endless': '永久有效', 'tokens.used': '上次使用', 'tokens.unused': '從未使用', 'tokens.made': p => `權杖 ${p.name}`, 'tokens.secret': '權杖',
  'tokens.once': '僅顯示這一次。持有者可以您的身分操作。', 'tokens.line': '試用指令', 'tokens.delete': '撤銷', 'tokens.delete.title': p => `撤銷 ${p.name}？`, 'tokens.delete.text': '此後使用它的程式將遭拒絕。', 'tokens.deleted': p => `權杖 ${p.name} 已撤銷。`,
  'audit.title': '稽核', 'audit.search': '關鍵字', 'audit.time': '時間', 'audit.actor': '操作者', 'audit.action': '操作', 'audit.object': '物件', 'audit.object.example': 'job:42', 'audit.center': '排程中心', 'audit.span.30d': '最近 30 天',
  'audit.items': p => `${n(p.n)} 項`, 'audit.more': p => `還有 ${p.n} 項`, 'audit.empty': '還沒有任何變更。', 'audit.empty_filtered': '沒有符合條件的變更。', 'audit.via.console': '主控台', 'audit.via.token': '權杖', 'audit.via.form_api': '表單 API', 'audit.via.center': '自動',
  'audit.via.cli': '命令列',
  'action.job.create': '新增工作', 'action.job.update': '修改工作', 'action.job.start': '啟動工作', 'action.job.stop': '停止工作', 'action.job.delete': '刪除工作', 'action.job.batch': '批次修改工作', 'action.run.trigger': '執行工作', 'action.run.kill': '終止執行', 'action.run.batch': '批次處理執行',
  'action.run.clean': '清理日誌',
  'action.script.publish': '發佈指令碼', 'action.group.create': '新增執行器', 'action.group.update': '修改執行器', 'action.group.delete': '刪除執行器', 'action.group.token': '變更執行器的存取權杖', 'action.executor.remove': '移除機器', 'action.user.create': '新增使用者', 'action.user.update': '修改使用者',
  'action.user.delete': '刪除使用者', 'action.user.password': '變更密碼', 'action.token.create': '建立權杖', 'action.token.delete': '撤銷權杖', 'action.session.login': '登入', 'action.session.logout': '登出', 'action.system.edit': '做了變更', 'action.session.end': '結束工作階段',
  'system.title': '系統', 'system.tab.health': '健康狀況', 'system.tab.settings': '設定', 'system.tab.about': '關於', 'system.ready': '就緒', 'system.not_ready': '未就緒', 'system.checks': '檢查', 'system.database': '資料庫', 'system.bytes': '大小', 'system.wal': '預寫日誌',
  'system.rows': '日誌列數', 'system.oldest': '最早的日誌',
  'system.viewers': '檢視者', 'system.zone': '伺服器時區', 'system.search': '搜尋鍵、值與說明', 'system.only_set': '僅顯示已設定的', 'system.empty_filtered': '沒有符合條件的設定。', 'system.key': '鍵', 'system.value': '值', 'system.origin': '來源', 'system.secret': '保密',
  'system.version': '版本', 'system.started': '啟動時間',
  'system.api': 'API 文件', 'system.address': '主控台位址', 'system.licence': '授權條款', 'system.licence.text': 'Peal 及其主控台：Apache License 2.0。字型（SIL Open Font License）：', 'origin.default': '預設', 'origin.environment': '環境變數', 'origin.command line': '命令列',
  'system.servers': '使用此資料庫的伺服器', 'node.name': '伺服器', 'node.self': '本伺服器', 'node.state': '狀態', 'node.state.up': '執行中', 'node.state.draining': '正在停止', 'node.state.stopped': '已停止', 'node.state.dead': '未正常停止', 'node.drains': '排空中', 'node.asked': '已要求排空；沒有其他伺服器在排程', 'node.actions': '操作', 'node.drain': '排空', 'node.undrain': '取消排空', 'node.drain.title': p => `讓 ${p.name} 把任務交給其他伺服器？`, 'node.drain.text': '它不再安排新的觸發。已安排和已開始的執行仍在該伺服器上結束。下次啟動後恢復排程。', 'node.jobs': '工作', 'node.jobs.help': '由該伺服器規劃、且有下次觸發時間的工作', 'node.unleased': '超過 2 秒沒有心跳：它不能派發', 'node.runs': '未結束的執行', 'node.beat': '最近心跳', 'node.skew': '時鐘差', 'node.skew.help': '資料庫時鐘比該機器快多少',
  'check.commit': '資料庫可寫入', 'check.commit.remedy': '請檢查資料目錄所在磁碟：空間、權限、錯誤。', 'check.schedule': '排程已提前規劃', 'check.schedule.remedy': '請檢查本機負載與伺服器日誌。', 'check.running': '排程器正在執行', 'check.running.remedy': '伺服器正在啟動或停止；若持續如此，請查看其日誌。',
  'users.exists': '已有同名使用者。',
} satisfies TextsOf<typeof en>
