// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {center as en} from './en'

const n = (count: number) => count.toLocaleString('zh-CN')

export const center = {
  'nav.alarms': '告警', 'nav.open_alarms': ' 个告警未关闭', 'job.alarm': '为该任务设置告警…', 'job.silence': '静默该任务…',
  'nav.overview': '概览', 'nav.upcoming': '即将触发', 'nav.bad_groups': ' 个执行器异常', 'link.lost': p => `自 ${p.time} 起连接中断，${p.s} 秒后重试。所见内容可能已过时；您的修改会留在这里。`, 'link.ill': p => `调度中心异常。${p.what}`, 'link.new': '控制台有新版本。', 'link.reload': '重新加载',
  'not_permitted.title': '您无权查看此页', 'not_permitted.text': p => `需要您没有的权限：${p.what}。可由管理员授予。`,
  'palette.title': '搜索与命令', 'palette.placeholder': '搜索或执行…', 'palette.hint': '#42 打开任务 42，run:9006120 打开运行，@app 打开执行器', 'palette.choose': '选择', 'palette.open': '打开', 'palette.hits': '结果', 'palette.none': '没有结果。', 'palette.recent': '最近打开',
  'palette.jobs': '任务', 'palette.runs': '运行', 'palette.groups': '执行器', 'palette.commands': '命令', 'palette.run': '执行任务…', 'palette.go': p => `前往：${p.place}`, 'palette.zone': p => `以 ${p.zone} 显示时间`,
  'keys.title': '快捷键', 'keys.palette': '搜索与命令', 'keys.filter': '转到筛选', 'keys.sheet': '本页', 'keys.go': '前往概览、任务、日志、执行器、告警、即将触发、审计、系统', 'keys.rows': '下一行、上一行', 'keys.open': '打开', 'keys.select': '选中该行', 'keys.new': '新建任务', 'keys.run': '执行、再次执行',
  'keys.start': '启动或停止', 'keys.edit': '编辑', 'keys.log': '转到日志', 'keys.follow': '跟随', 'keys.save': '保存表单', 'keys.close': '关闭',
  'yes': '是', 'no': '否', 'crumbs': '所在位置', 'permission.read': '查看任务、运行与日志', 'permission.run': '启动、停止、执行、终止', 'permission.jobs:write': '新建和修改任务', 'permission.scripts:write': '修改脚本',
  'permission.audit:read': '查看审计', 'permission.executors:write': '修改执行器', 'permission.users:admin': '管理用户', 'permission.system:admin': '查看设置与警告',
  'me.shortcuts': '单字母快捷键', 'audit.changes': '变更前后', 'check.commit.not': '数据库无法写入；结果已保留。', 'check.schedule.not': '调度未能提前计划。', 'check.running.not': '调度器没有运行。', 'rule.required': '此项必填。', 'rule.text.length': p => p.max === undefined ? p.detail : p.min ? `${p.min} 至 ${n(p.max)} 个字符。` : `最多 ${n(p.max)} 个字符。`,
  'rule.text.bytes': p => p.max === undefined ? p.detail : `最多 ${n(p.max)} 字节。`,
  'rule.token.known': '这是 XXL-JOB 文档中公开的令牌。', 'rule.token.center': '这是调度中心的令牌。', 'rule.text.visible': '只能使用 ASCII 字母、数字和符号，不含空格。',
  'rule.text.empty': '不能为空。', 'rule.text.comma': '此处不能有逗号。', 'rule.text.markup': '不能包含 < 或 >。', 'rule.number.range': p => p.min === undefined || p.max === undefined ? p.detail : `应为 ${n(p.min)} 至 ${n(p.max)} 的数。`, 'rule.type.integer': '应为整数。',
  'rule.type.number': '应为数字。',
  'rule.word': p => `此处只能是：${p.detail}`, 'rule.user.name': '以字母 a-z 开头，其后为 a-z、0-9、“.”、“_”和“-”。', 'rule.password.wrong': '当前密码不正确。', 'rule.password': '至少 4 个字符，首尾不能有空格。', 'rule.token.days': '只有管理员可以创建永久令牌。', 'rule.token.groups': '服务器级权限适用于所有分组：请选择所有分组，或去掉该权限。', 'rule.array.unique': '有重复项。',
  'rule.list.unique': '有重复项。', 'rule.list.length': '数量过少或过多。',
  'rule.group.exists': '请选择存在的执行器。', 'rule.handler.needed': 'BEAN 任务需要 JobHandler 名称。', 'rule.schedule.conf': p => `无法识别该调度：${p.detail}`, 'rule.zone': '未知的时区。', 'rule.child.exists': p => `任务 ${p.ids} 不存在。`, 'rule.child.permission': p => `您无权使用任务 ${p.ids}。`,
  'rule.child.list': '任务 ID，以逗号分隔。', 'rule.child.self': '任务不能是自己的子任务。', 'rule.child.cycle': p => `这些子任务会回到本任务：${p.ids}`, 'rule.address': '地址格式为 [http[s]://]主机[:端口][/路径]，不含空格、逗号和查询参数。',
  'rule.unknown': '服务器不认识此字段。', 'rule.type.text': '应为文本。', 'rule.type.texts': '应为文本列表。', 'rule.type.ids': 'ID，以逗号分隔。', 'rule.type.boolean': '应为是或否。', 'rule.type.object': '此部分的格式不正确。',
  'rule.silence.times': '结束时间应在将来，晚于开始时间，且在 90 天之内。',
  'rule.silence.place': '静默属于一个分组或一个任务，不能同时指定。',
  'rule.channel.name': '名称最多 64 字节，不含逗号，首尾不能有空格。', 'rule.rule.kind': '此类规则没有该项。', 'rule.rule.place': '规则属于一个分组或一个任务，不能同时指定。', 'rule.rule.quiet': '两个不同的时刻，例如 22:00 和 06:30。', 'rule.text.control': '此处不能有控制字符。',
  'rule.channel.setting': '此类通道不接受该值。',
  'rule.channel.taken': '该名称是服务器配置中的通道。',
  'rule.type.array': '应为列表。', 'rule.id': 'ID 应为整数。', 'rule.fixed': '不能更改。', 'rule.exists': '对象不存在，或您无权查看。', 'rule.run': p => `无法这样启动运行：${p.detail}`, 'rule.list.empty': '至少需要一项。',
  'rule.list.registry': '自动注册的执行器不能填写地址。', 'rule.child.count': '子任务过多。', 'rule.schedule.over': '该调度不会再触发。', 'rule.text.encoding': '含有无法保存的字符。',
  'rule.array.length': p => p.min === undefined || p.max === undefined ? p.detail : `应有 ${p.min} 至 ${p.max} 项。`, 'conf.at': p => `${p.field}（第 ${p.column} 列）：${p.rule}`,
  'conf.range': p => `${p.value} 不在 ${p.min}–${p.max} 之内`, 'conf.number': '此处应为数字', 'conf.step': p => `此处步长最大为 ${p.max}`, 'conf.name': p => `应为 ${p.first} 至 ${p.last} 的名称`,
  'conf.sign': p => `此处不能有 ${p.sign}`, 'conf.none': '没有值', 'conf.question': '? 只能用于日或周', 'conf.count': p => `有 ${p.n} 个字段，应为 6 或 7 个：秒 分 时 日 月 周 [年]`, 'conf.days': '日与周之一必须为 ?，由另一个决定日期',
  'job.stop.once': '唯一的一次触发已安排。', 'job.stop.over': '该调度不会再触发。', 'conf.code': p => `此处不能有编码为 ${p.code} 的字符`, 'conf.centuries': '最长三个世纪', 'conf.large': '数字过大', 'conf.backwards': p => `年份范围不能倒序：${p.first} 晚于 ${p.last}`, 'conf.after': p => `${p.value} 晚于最后一年 ${p.last}`,
  'conf.nth': '# 之后是当月第几个，1–5',
  'conf.follow': '此处之后不能再有内容', 'conf.place': p => `${p.sign} 不能用于此字段`, 'conf.back': 'L- 最多倒数 30 天', 'conf.alone': 'L 只能单独使用，不能在列表中', 'conf.hash': '只能有一个 #', 'conf.ascii': p => `只能使用 ASCII 字符（第 ${p.column} 列）`,
  'conf.bytes': p => `最多 ${p.max} 字节`, 'conf.addresses': p => `最多 ${p.max} 个地址`, 'conf.address': p => `${p.address} 不是该任务执行器的地址`,
  'conf.seconds': '应为整数秒（如 30）或毫秒（如 250ms）', 'conf.least': p => `至少 ${p.least}`, 'conf.once': '应为带时差的时间，例如 2030-01-31T08:30:00+08:00',
} satisfies TextsOf<typeof en>
