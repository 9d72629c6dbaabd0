// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {observe as en} from './en'

const n = (count: number) => count.toLocaleString('zh-CN')
const percent = (p: number) => (p >= 99.95 || p === 0 ? p.toFixed(0) : p.toFixed(1)) + '%'

export const observe = {
  'chart.as_table': '表格', 'chart.as_chart': '图表', 'chart.runs_note': p => `${n(p.n)} 次运行，成功 ${percent(p.percent)}`, 'chart.bar': p => `${p.at}：成功 ${n(p.good)}，失败 ${n(p.bad)}`,
  'job.tab.history': '变更记录', 'job.next': '距下次触发', 'job.curl': '复制为 curl', 'job.last_was': p => `最近一次：${p.outcome}`, 'job.fails': p => `最近一次运行未成功：${p.outcome}`, 'job.streak_of': p => `连续 ${p.count} 次`,
  'job.good_since': p => `此后成功 ${n(p.count)} 次`, 'job.never_failed': '该任务从未失败。', 'job.last60': '最近 60 次运行', 'job.days30': '最近 30 天', 'job.all_fires': '调度', 'job.stopped_fires': '任务已停止，启动后才会触发。',
  'job.hours': '各小时的运行次数', 'job.hours.note': '最近 8 天', 'job.hours.cell': p => `${p.hour}:00：运行 ${n(p.n)} 次`, 'job.family': '关联任务', 'job.no_children': '没有在其后触发的任务。',
  'job.by_hand': '该任务没有调度，仅由手动、API 或其他任务触发。', 'job.give_schedule': '设置调度', 'job.fires.crowd': p => `同时还有 ${n(p.n)} 个任务`, 'job.fires.less': '显示 10 次',
  'job.day': '未来 24 小时（按小时）', 'job.day.cell': p => `${p.hour}:00：触发 ${n(p.n)} 次`, 'job.year.firings': '触发次数', 'job.year.none': '无', 'job.year.one': '一次', 'job.year.more': '多次', 'job.year.clock': '时钟调整',
  'job.preset': '默认', 'job.edit_field': p => `编辑：${p.field}`, 'job.field.retry_delay': '重试间隔', 'job.field.backoff': '重试退避倍数', 'job.field.deadline': '最迟开始',
  'job.history.none': '尚无变更。', 'job.history.center': '调度中心', 'job.history.field': '字段', 'job.history.before': '变更前', 'job.history.after': '变更后', 'job.history.put_back': '恢复', 'job.history.all': p => `显示全部 ${p.n} 项变更`,
  'job.action.job.create': '新建了任务', 'job.action.job.update': '修改了任务', 'job.action.job.delete': '删除了任务', 'job.action.job.start': '启动了任务', 'job.action.job.stop': '停止了任务', 'job.action.run.trigger': '手动执行了任务', 'job.action.script.publish': '发布了脚本',
  'job.via.console': '控制台', 'job.via.token': 'API 令牌', 'job.via.form_api': '表单 API', 'job.via.center': '调度中心自身', 'job.via.cli': '命令行',
  'cron.second': '秒', 'cron.minute': '分', 'cron.hour': '时', 'cron.day': '日', 'cron.month': '月', 'cron.weekday': '周', 'cron.year': '年',
  'warning.never_fires': '永远不会触发。', 'warning.gap': '时钟会跳过这一时刻。', 'warning.overlap': '这一时刻会出现两次。', 'warning.leap_day_only': '仅在 2 月 29 日触发。', 'warning.rare': '触发极少。', 'warning.crowded': '同一秒有许多其他任务。', 'warning.dense': '触发非常频繁。',
  'warning.both_days': '同时设置了日和周：满足其一即触发。', 'warning.zone_differs': '时区与服务器不同。', 'warning.remedy.never_fires': '请修改表达式，或停止该任务。', 'warning.remedy.leap_day_only': '日字段中的 L 表示每月最后一天。', 'warning.remedy.crowded': '换到其他秒可以分散负载。',
} satisfies TextsOf<typeof en>
