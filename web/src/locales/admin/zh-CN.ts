// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {messages as en} from './en'

const n = (count: number) => count.toLocaleString('zh-CN')

export const messages = {
  'density': '列表密度', 'density.comfortable': '宽松', 'density.compact': '紧凑',
  'role.viewer': '查看者', 'role.operator': '操作员', 'role.editor': '编辑者', 'role.developer': '开发者', 'role.none': '无', 'role.auditor': '审计员', 'role.admin': '管理员',
  'users.title': '用户', 'users.search': '用户名', 'users.new': '新建用户', 'users.add': '添加', 'users.name': '用户名', 'users.name.note': '4 至 20 个字符：以字母开头，其后为 a-z、0-9、“.”、“_”和“-”。',
  'users.center': '整个调度中心', 'users.center.none': '仅有下列授权。', 'users.center.auditor': '可查看全部内容与审计；除下列授权外不能作任何更改。', 'users.center.admin': '可执行所有操作，包括管理用户。',
  'users.grants': '授权', 'users.no_grants': '没有授权：该用户看不到任何任务。', 'users.add_grant': '添加授权', 'users.take': p => `取消：${p.role}`, 'users.role': '角色', 'users.where': '适用的执行器', 'users.some_groups': '以下执行器',
  'users.last_login': '上次登录', 'users.never': '从未', 'users.sessions': '会话', 'users.matrix': '各角色的权限', 'users.empty_filtered': '没有这样的用户名。', 'users.made': p => `${p.name} 现在可以登录`,
  'users.once': '仅显示这一次，请通过安全的途径转交。', 'users.saved': p => `${p.name} 的权限已保存。`, 'users.rights': '权限', 'users.account': '账号', 'users.created': '创建时间', 'users.audit': '该用户的操作',
  'users.own_rights': '不能修改自己的权限，请由其他管理员修改。', 'users.password': '重置密码…', 'users.password.title': p => `为 ${p.name} 生成新密码？`, 'users.password.text': '新密码在此生成并仅显示一次，该用户的所有会话将结束。', 'users.password.make': '生成',
  'users.delete': '删除', 'users.delete.title': p => `删除 ${p.name}？`, 'users.delete.text': '会话与令牌立即失效；任务与审计保留。', 'users.deleted': p => `${p.name} 已删除。`, 'users.not_oneself': '不能删除自己的账号。',
  'me.display': '显示方式', 'me.must_change': '您的密码是自动生成的。请先改为自己的密码再继续。', 'me.password': '密码', 'me.password.old': '当前密码', 'me.password.new': '新密码', 'me.password.again': '再次输入新密码',
  'me.password.differ': '两次输入的新密码不一致。', 'me.password.change': '修改密码', 'me.password.changed': '密码已修改，其他会话已结束。', 'me.sessions': '登录的位置', 'me.session.since': '始于', 'me.session.until': '至', 'me.session.this': '当前会话', 'me.session.end': '结束',
  'me.session.end_of': p => `结束来自 ${p.address} 的会话`,
  'tokens.title': '访问令牌', 'tokens.empty': '令牌供程序以您的名义调用 API，其权限不超过您的权限。', 'tokens.new': '新建令牌', 'tokens.make': '创建令牌', 'tokens.name': '用途', 'tokens.permissions': '可以', 'tokens.read_along': '同时包含 read：没有它，令牌找不到任务。', 'tokens.groups': '范围',
  'tokens.all_groups': '您可见的所有执行器',
  'tokens.days': '有效天数', 'tokens.days.note': '0 表示永久有效。', 'tokens.until': '有效至', 'tokens.endless': '永久有效', 'tokens.used': '上次使用', 'tokens.unused': '从未使用', 'tokens.made': p => `令牌 ${p.name}`, 'tokens.secret': '令牌',
  'tokens.once': '仅显示这一次。持有者可以您的身份操作。', 'tokens.line': '试用命令', 'tokens.delete': '撤销', 'tokens.delete.title': p => `撤销 ${p.name}？`, 'tokens.delete.text': '此后使用它的程序将被拒绝。', 'tokens.deleted': p => `令牌 ${p.name} 已撤销。`,
  'audit.title': '审计', 'audit.search': '关键词', 'audit.time': '时间', 'audit.actor': '操作者', 'audit.action': '操作', 'audit.object': '对象', 'audit.object.example': 'job:42', 'audit.center': '调度中心', 'audit.span.30d': '最近 30 天',
  'audit.items': p => `${n(p.n)} 项`, 'audit.more': p => `还有 ${p.n} 项`, 'audit.empty': '还没有任何变更。', 'audit.empty_filtered': '没有符合条件的变更。', 'audit.via.console': '控制台', 'audit.via.token': '令牌', 'audit.via.form_api': '表单 API', 'audit.via.center': '自动',
  'audit.via.cli': '命令行',
  'action.job.create': '新建任务', 'action.job.update': '修改任务', 'action.job.start': '启动任务', 'action.job.stop': '停止任务', 'action.job.delete': '删除任务', 'action.job.batch': '批量修改任务', 'action.run.trigger': '执行任务', 'action.run.kill': '终止运行', 'action.run.batch': '批量处理运行',
  'action.run.clean': '清理日志',
  'action.script.publish': '发布脚本', 'action.group.create': '新建执行器', 'action.group.update': '修改执行器', 'action.group.delete': '删除执行器', 'action.group.token': '更改执行器的访问令牌', 'action.executor.remove': '移除机器', 'action.user.create': '添加用户', 'action.user.update': '修改用户',
  'action.user.delete': '删除用户', 'action.user.password': '修改密码', 'action.token.create': '创建令牌', 'action.token.delete': '撤销令牌', 'action.session.login': '登录', 'action.session.logout': '退出登录', 'action.system.edit': '作了更改', 'action.session.end': '结束会话',
  'system.title': '系统', 'system.tab.health': '健康状况', 'system.tab.settings': '设置', 'system.tab.about': '关于', 'system.ready': '就绪', 'system.not_ready': '未就绪', 'system.checks': '检查', 'system.database': '数据库', 'system.bytes': '大小', 'system.wal': '预写日志',
  'system.rows': '日志行数', 'system.oldest': '最早的日志',
  'system.viewers': '观看者', 'system.zone': '服务器时区', 'system.search': '搜索键、值与说明', 'system.only_set': '仅显示已设置的', 'system.empty_filtered': '没有符合条件的设置。', 'system.key': '键', 'system.value': '值', 'system.origin': '来源', 'system.secret': '保密',
  'system.version': '版本', 'system.started': '启动时间',
  'system.api': 'API 文档', 'system.address': '控制台地址', 'system.licence': '许可证', 'system.licence.text': 'Peal 及其控制台：Apache License 2.0。字体（SIL Open Font License）：', 'origin.default': '默认', 'origin.environment': '环境变量', 'origin.command line': '命令行',
  'system.servers': '使用此数据库的服务器', 'node.name': '服务器', 'node.self': '本服务器', 'node.state': '状态', 'node.state.up': '运行中', 'node.state.draining': '正在停止', 'node.state.stopped': '已停止', 'node.state.dead': '未正常停止', 'node.drains': '排空中', 'node.asked': '已请求排空；没有其他服务器在调度', 'node.actions': '操作', 'node.drain': '排空', 'node.undrain': '取消排空', 'node.drain.title': p => `让 ${p.name} 把任务交给其他服务器？`, 'node.drain.text': '它不再安排新的触发。已安排和已开始的运行仍在该服务器上结束。下次启动后恢复调度。', 'node.jobs': '任务', 'node.jobs.help': '由该服务器规划、且有下次触发时间的任务', 'node.unleased': '超过 2 秒没有心跳：它不能派发', 'node.runs': '未结束的运行', 'node.beat': '最近心跳', 'node.skew': '时钟差', 'node.skew.help': '数据库时钟比该机器快多少',
  'check.commit': '数据库可写入', 'check.commit.remedy': '请检查数据目录所在磁盘：空间、权限、错误。', 'check.schedule': '调度已提前计划', 'check.schedule.remedy': '请检查本机负载与服务器日志。', 'check.running': '调度器正在运行', 'check.running.remedy': '服务器正在启动或停止；若持续如此，请查看其日志。',
  'users.exists': '已有同名用户。',
} satisfies TextsOf<typeof en>
