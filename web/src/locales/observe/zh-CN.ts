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
  'cause.PE-1001': '被执行器拒绝', 'cause.PE-1002': '没有注册的执行器', 'cause.PE-2001': '执行器不知其去向', 'cause.PE-2002': '运行超时', 'cause.PE-2003': '被用户终止', 'cause.PE-3001': '任务失败',
  'run.told.planned': p => `计划于 ${p.at} 触发，尚未发送。`, 'run.told.open': p => `自 ${p.at} 起运行中。`, 'run.told.ended': p => `于 ${p.at} 结束，耗时 ${p.took}。`,
  'run.told.not_begun': p => `应于 ${p.at} 开始，但未能开始。`, 'run.told.is_retry': p => `这是先前运行的第 ${p.n} 次重试。`, 'run.told.retried': p => `已重试 ${p.n} 次。`,
  'run.told.next': p => `任务将在 ${p.span} 后（${p.at}）再次触发。`, 'run.told.no_next': '不会自动重试。', 'run.whole_message': '完整信息', 'run.changed': p => `此前 ${p.span} 由 ${p.who} 修改`,
  'run.same': p => p.n ? `另有 ${n(p.n)} 个任务同样失败` : '没有其他任务这样失败', 'run.again.title': p => `再次执行 ${p.name}`, 'run.again.text': '将立即开始一次新的运行，并打开其日志。',
  'run.retry_of': p => `${p.id} 的重试`, 'run.parent': p => `由 ${p.id} 触发`, 'run.others_there': '该机器的其他运行', 'run.took_usual': p => `${p.took}，通常 ${p.usual}`,
  'run.facts.trace': '追踪 ID', 'run.shards': '本次广播的分片', 'story.ahead': p => `提前 ${p.span} 落盘。`, 'story.routed_by': p => `按 ${p.route} 选定 ${p.address}。`,
  'story.address': p => p.address, 'story.bytes': p => `${n(p.n)} 字节。`, 'story.waited': p => `排队等待 ${p.span}。`, 'story.attempt': p => `第 ${p.n} 次重试。`,
  'story.code': p => `结果码 ${p.code}。`, 'story.never': '未发生', 'story.run': p => `运行 ${p.id}`, 'log.regex': '正则表达式', 'log.bad_regex': '不是正则表达式', 'log.first_error': '首个错误',
  'log.more': '显示与下载', 'log.download_plain': '下载（不含颜色）', 'log.copy': '复制所选行或全部', 'log.copy_refused': '浏览器不允许在此复制，请改用下载。', 'log.local': '使用我的时区', 'log.announce': '朗读新行',
  'log.cut': p => `前 ${n(p.n)} 行未保留在此，下载中包含全部。`, 'log.from': p => `来自 ${p.address}，为所有查看者只读取一次`, 'log.lost_since': p => `自 ${p.time} 起连接中断，正在重试；内容不会丢失。`,
  'log.why.rejected': '执行器未接收本次运行，没有日志。', 'log.why.not_started': '尚未开始运行。', 'log.why.executor_gone': '执行器已离线，日志无法读取。', 'log.why.cleaned': '执行器已删除该日志。',
  'executors.new': '新建执行器', 'executors.edit': p => `编辑 ${p.app}`, 'executors.delete': '删除执行器', 'executors.delete.text': '注册到该执行器的机器将不再可用。此操作无法撤销。',
  'executors.delete.jobs': p => `其下还有 ${n(p.n)} 个任务，请先移走或删除。`, 'executors.note': p => `${n(p.groups)} 个执行器，${n(p.addresses)} 个地址`, 'executors.search': 'AppName 或名称',
  'executors.bad': '需要关注', 'executors.empty_filtered': '没有符合条件的执行器。', 'executors.addresses': '机器地址', 'executors.addresses.note': '每行一个，例如 http://10.0.0.5:9999/。',
  'executors.failing_jobs': '失败任务', 'executors.waiting': '等待中', 'executors.in_flight': '发送中', 'executors.name': '名称', 'executors.app.note': '4 至 64 个字符，机器以此注册，之后不能修改。',
  'executors.app.fixed': '机器以此注册，不能修改。', 'executors.addressing.registry.note': '机器自行上报地址。', 'executors.addressing.manual.note': '由您列出地址。', 'executors.since': '自',
  'executors.ago': p => `${p.span} 前`, 'executors.ours': 'Peal', 'executors.theirs': 'XXL-JOB', 'executors.source.registry': '自动注册', 'executors.source.manual': '手动录入',
  'executors.source.both': '注册并录入', 'executors.unknown': p => `${n(p.n)} 个结果未知`, 'executors.answers': p => `在 ${p.span} 后应答${p.said ? '：' + p.said : '。'}`,
  'executors.answers_not': p => `没有应答${p.said ? '：' + p.said : '。'}`, 'executors.forget': '移除', 'executors.forget.title': p => `移除 ${p.address}？`,
  'executors.forget.text': '不再向其发送任务；再次注册后会自动恢复。', 'executors.forgotten': p => `已移除 ${p.address}。`, 'executors.how': '机器以此 AppName 注册后即会出现在这里。以下配置可让其找到本调度中心：',
  'executors.token': 'TOKEN 为本调度中心的访问令牌，请向管理员索取。', 'executors.token_admin': 'TOKEN 为本调度中心的访问令牌：配置项 token，或数据目录中的 token 文件。', 'executors.all_jobs': '全部任务',
  'executors.all_runs': '全部运行', 'executors.no_jobs': '该执行器下没有任务。', 'executors.ran': '在此运行的任务', 'group.nobody': '全部离线', 'group.partly': '部分在线', 'group.full': '通道已满',
  'group.up': '在线', 'group.empty': '空',
} satisfies TextsOf<typeof en>
