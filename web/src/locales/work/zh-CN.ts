// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {work as en} from './en'

export const work = {
  'jobs.changed': p => `${p.n} 项有变化，显示`, 'jobs.daily': p => `每天 ${p.time}`, 'jobs.weekly': p => `${p.days} ${p.time}`, 'jobs.monthly': p => p.day === 'L' ? `每月最后一天 ${p.time}` : `每月 ${p.day} 日 ${p.time}`,
  'runs.new': p => `${p.n} 条新记录`, 'runs.more': '更多筛选', 'runs.to': '结束时间', 'runs.job_id': '任务 ID', 'runs.code': '原因代码', 'runs.min_took': '最短耗时（秒）', 'runs.flag.late': '迟发',
  'runs.flag.stuck': '长时间未结束', 'runs.flag.unknown': '结果未知', 'bulk.rerun': '再次执行这些？', 'bulk.kill': '终止这些运行？', 'clean.open': '清理…', 'clean.title': '清理调度日志',
  'clean.text': '将删除运行记录，且无法恢复。', 'clean.rule': '范围', 'clean.go': '删除', 'clean.older_1_month': '一个月之前', 'clean.older_3_months': '三个月之前', 'clean.older_6_months': '六个月之前',
  'clean.older_12_months': '一年之前', 'clean.keep_1000': '除最新 1,000 条以外', 'clean.keep_10000': '除最新 10,000 条以外', 'clean.keep_30000': '除最新 30,000 条以外', 'clean.keep_100000': '除最新 100,000 条以外',
  'clean.all': '全部', 'clean.rows': p => `将删除 ${p.n} 条。`, 'clean.rows_over': p => `将删除超过 ${p.n} 条。`, 'clean.done': p => `已删除 ${p.n} 条。`,
  'jobs.handler': 'JobHandler', 'jobs.took_long': '超过平时的三倍', 'bulk.chosen': p => `已选 ${p.n} 项`, 'bulk.all': p => `选择全部 ${p.n} 项`, 'bulk.none': '取消选择',
  'bulk.here': '选择本页所有行', 'bulk.pick': p => `选择 ${p.name}`, 'bulk.chip': p => `取消：${p.text}`, 'bulk.do.start': '启动', 'bulk.do.stop': '停止', 'bulk.do.trigger': '执行一次',
  'bulk.do.set_owner': '负责人…', 'bulk.do.move_group': '移动…', 'bulk.do.delete': '删除…', 'bulk.start': '启动这些任务？', 'bulk.stop': '停止这些任务？', 'bulk.trigger': '立即执行这些任务？',
  'bulk.set_owner': '更改这些任务的负责人', 'bulk.move_group': '将这些任务移到其他执行器', 'bulk.delete': '删除这些任务？', 'bulk.delete.text': '其调度日志将一并删除。十秒内可以撤回，之后不可恢复。', 'bulk.trigger.text': '此操作无法撤销。',
  'bulk.jobs': p => `${p.n} 个任务`, 'bulk.refused': p => `${p.n} 项被拒绝`, 'bulk.type': p => `输入 ${p.n} 以继续`, 'bulk.go': p => `对 ${p.n} 项执行`, 'bulk.done': p => `已完成 ${p.n} 项。`,
  'bulk.held': p => `${p.n} 项将在 10 秒后删除。`,
  'form.kind.every': '每隔…', 'form.kind.daily': '每天', 'form.kind.weekly': '每周', 'form.kind.monthly': '每月', 'form.kind.cron': 'Cron', 'form.kind.rate': '固定速度',
  'form.kind.delay': '固定延迟', 'form.kind.once': '一次', 'form.kind.hand': '手动', 'form.unit': '单位', 'form.unit.second': '秒', 'form.unit.minute': '分钟', 'form.unit.hour': '小时',
  'form.time': '时间', 'form.day': '日期', 'form.day.last': '最后一天', 'form.days': '星期', 'form.preview.none': '选择后将在此说明。', 'form.backoff': '退避：每次间隔的倍数', 'form.tries': p => `执行时刻：${p.list}`,
  'form.save_run': '保存并执行一次', 'form.handler.unknown': '该执行器尚无任务使用此 JobHandler。', 'form.param.no_json': '看似 JSON，但格式不正确。', 'form.changed.same': '对方的修改与此处内容相同，请再次保存。',
  'form.changes': '保存后的变更', 'form.changed.field': '字段', 'form.changed.was': '原值', 'form.changed.theirs': '对方', 'form.changed.mine': '我的', 'form.changed.take': '采用所选内容', 'route.FIRST': '第一台机器。',
  'route.LAST': '最后一台机器。', 'route.ROUND': '依次轮流。', 'route.RANDOM': '随机一台。', 'route.CONSISTENT_HASH': '本任务固定使用同一台，只要其在线。', 'route.LEAST_FREQUENTLY_USED': '本任务使用次数最少的一台。',
  'route.LEAST_RECENTLY_USED': '本任务最久未使用的一台。', 'route.FAILOVER': '第一台心跳正常的机器。', 'route.BUSYOVER': '第一台未在运行本任务的机器。', 'route.SHARDING_BROADCAST': '所有机器，各取一个分片。',
  'block.SERIAL_EXECUTION': '后一次运行等待前一次结束。', 'block.DISCARD_LATER': '运行期间丢弃后来的，并记为失败。', 'block.COVER_EARLY': '后一次运行会终止前一次。',
  'job.not_started': p => `${p.name} 未能启动：${p.why}`,
  'job.tab.script': '脚本', 'script.versions': '版本', 'script.version': p => `版本 ${p.n}`, 'script.now': '当前运行', 'script.draft': '草稿',
  'script.diff': p => `版本 ${p.a} 与版本 ${p.b} 对比`, 'script.compare': '对比', 'script.compare_with': p => `与版本 ${p.n} 对比`, 'script.drop': '丢弃草稿', 'script.publish': '发布',
  'script.restore': '恢复', 'script.restore.title': p => `恢复版本 ${p.n}？`, 'script.restore.text': '其内容将成为最新版本，不会丢失任何版本。', 'script.restores': p => `恢复版本 ${p.n}`,
  'script.publish.title': '发布草稿？', 'script.published': '已发布，下次运行即采用。', 'script.newer': p => `您开始编辑后已发布版本 ${p.n}，发布时会询问如何处理。`,
  'script.conflict': p => `在此期间已发布版本 ${p.n}。`, 'script.theirs': '采用对方的，丢弃我的', 'script.mine': '用我的覆盖发布', 'script.remark': '备注', 'script.remark.note': '说明改动：4 至 100 个字符。',
  'script.read_only': '您可以查看该执行器的脚本，但不能修改。',
} satisfies TextsOf<typeof en>
