// SPDX-License-Identifier: Apache-2.0
// What the screens of alarms share: headings of alarms, sentences of rules, what kinds of channels want.
import type {Schemas} from './http'
import {t, tOf, tWith} from './i18n'
import {live} from './query'
import {display} from './display'
import {spanOf} from './time'

export type Alarm = Schemas['Alarm']
export type Rule = Schemas['AlarmRule']
export type RuleKind = Schemas['AlarmKind']
export type ChannelKind = Schemas['ChannelKind']

export const RULE_KINDS: RuleKind[] = ['failed', 'recovered', 'slow', 'stopped', 'late', 'empty', 'gone', 'center']
/** Kinds that last: their alarms are over when what they found is. */
export const LASTING = ['failed', 'late', 'empty', 'gone', 'center']
/** Of what a rule of the kind can be. */
export const placesOf = (kind: string) => kind === 'center' ? ['all'] : kind === 'empty' || kind === 'gone' ? ['all', 'group'] : ['all', 'group', 'job']
/** How a kind takes a span: it must be there, may be, or has none. */
export const spanUse = (kind: string) => kind === 'slow' || kind === 'late' ? 'must' : kind === 'empty' || kind === 'gone' || kind === 'center' ? 'may' : 'none'
export const LEVELS: Schemas['AlarmLevel'][] = ['info', 'warning', 'critical']

/** Without the stream, which tells that alarms have changed, they are read every 4 s. */
export const ALARMS_MS = 4000
/** It does not tell what comes of messages, nor of silences: they are read every 4 s with it, too. */
export const often = () => live.value ? 800 : ALARMS_MS

export const groupOf = (alarm: Alarm) => alarm.group.title || alarm.group.app || (alarm.group.id ? '#' + alarm.group.id : t('alarms.center'))
export const titleOf = (alarm: Alarm) => tWith('alarms.title.' + alarm.kind, {n: alarm.jobs, group: groupOf(alarm), what: alarm.check ? tOf('alarms.check.' + alarm.check, alarm.check) : ''}, `${alarm.kind}: ${groupOf(alarm)}`)

/** What the failures have in common, if it is more than the group. */
export function causeOf(alarm: Alarm): string {
  return alarm.cause === 'executor' ? t('alarms.cause.executor', {address: alarm.executor ?? ''}) : alarm.cause === 'no_executor' ? t('alarms.cause.no_executor') : ''
}

/** Open, acknowledged, or why it is closed. */
export function alarmState(alarm: Alarm): string {
  if (alarm.closedMs) return alarm.closedBy ? t('alarms.closed_by', {who: alarm.closedBy}) : t('alarms.closed_self')
  return alarm.acknowledgedBy ? t('alarms.acknowledged', {who: alarm.acknowledgedBy}) : t('alarms.state.open')
}

/** A rule as one sentence; `who` is the job, the group, or nothing for all. */
export function sentenceOf(rule: Pick<Rule, 'inARow' | 'longerMs' | 'channels' | 'quiet' | 'repeatMs'> & {kind: string}, who: string): string {
  const when = tWith('rules.say.' + rule.kind, {who, count: rule.inARow ?? 1, span: rule.longerMs ? spanOf(rule.longerMs) : ''}, tOf('rules.kind.' + rule.kind, rule.kind))
  const channels = new Intl.ListFormat(display.language, {type: 'conjunction'}).format(rule.channels)
  return t('rules.say', {when, channels, repeat: rule.repeatMs ? spanOf(rule.repeatMs) : '', from: rule.quiet?.from ?? '', to: rule.quiet?.to ?? ''})
}

/** The settings of each kind of channel: what must be there, what is secret, what takes several lines. */
export interface Setting { name: string, need?: boolean, secret?: boolean, lines?: number, words?: string[] }
const url: Setting = {name: 'url', need: true, secret: true}, secret: Setting = {name: 'secret', secret: true}, headers: Setting = {name: 'headers', secret: true, lines: 3}
export const CHANNELS: Record<ChannelKind, Setting[]> = {
  webhook: [url, secret, {name: 'method', words: ['POST', 'PUT', 'PATCH']}, headers, {name: 'body', lines: 5}],
  dingtalk: [url, secret], wecom: [url], feishu: [url, secret], slack: [url], teams: [url],
  pagerduty: [{name: 'routingKey', need: true, secret: true}, {name: 'url', secret: true}],
  alertmanager: [url, headers], mail: [{name: 'to', need: true, lines: 2}],
}
