// SPDX-License-Identifier: Apache-2.0
import type {TextsOf} from '../../lib/i18n'
import type {work as en} from './en'

export const work = {
  'job.not_started': p => `${p.name} 未能启动：${p.why}`,
  'job.tab.script': '脚本', 'script.versions': '版本', 'script.version': p => `版本 ${p.n}`, 'script.now': '当前运行', 'script.draft': '草稿',
  'script.diff': p => `版本 ${p.a} 与版本 ${p.b} 对比`, 'script.compare': '对比', 'script.compare_with': p => `与版本 ${p.n} 对比`, 'script.drop': '丢弃草稿', 'script.publish': '发布',
  'script.restore': '恢复', 'script.restore.title': p => `恢复版本 ${p.n}？`, 'script.restore.text': '其内容将成为最新版本，不会丢失任何版本。', 'script.restores': p => `恢复版本 ${p.n}`,
  'script.publish.title': '发布草稿？', 'script.published': '已发布，下次运行即采用。', 'script.newer': p => `您开始编辑后已发布版本 ${p.n}，发布时会询问如何处理。`,
  'script.conflict': p => `在此期间已发布版本 ${p.n}。`, 'script.theirs': '采用对方的，丢弃我的', 'script.mine': '用我的覆盖发布', 'script.remark': '备注', 'script.remark.note': '说明改动：4 至 100 个字符。',
  'script.read_only': '您可以查看该执行器的脚本，但不能修改。',
} satisfies TextsOf<typeof en>
