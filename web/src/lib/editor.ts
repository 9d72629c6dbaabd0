// SPDX-License-Identifier: Apache-2.0
// The editor of scripts, a chunk of its own. It stands in a shadow root: there it adopts its style
// sheets, while in the document it would add style elements, which the security policy forbids.
import {defaultKeymap, history, historyKeymap, indentWithTab} from '@codemirror/commands'
import {bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting, type StreamParser} from '@codemirror/language'
import {clike} from '@codemirror/legacy-modes/mode/clike'
import {groovy} from '@codemirror/legacy-modes/mode/groovy'
import {javascript} from '@codemirror/legacy-modes/mode/javascript'
import {powerShell} from '@codemirror/legacy-modes/mode/powershell'
import {python} from '@codemirror/legacy-modes/mode/python'
import {shell} from '@codemirror/legacy-modes/mode/shell'
import {MergeView, unifiedMergeView} from '@codemirror/merge'
import {EditorState, type Extension} from '@codemirror/state'
import {drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers} from '@codemirror/view'
import {tags} from '@lezer/highlight'

const words = (text: string) => Object.fromEntries(text.split(' ').map(word => [word, true]))
const php = clike({
  name: 'php', multiLineStrings: true,
  keywords: words('abstract as break case catch class clone const continue declare default do echo else elseif extends final finally fn for foreach function global if implements include include_once instanceof interface match namespace new print private protected public readonly require require_once return static switch throw trait try use var while yield'),
  atoms: words('true false null TRUE FALSE NULL __FILE__ __LINE__ __DIR__'), blockKeywords: words('catch do else elseif for foreach if switch try while finally'),
  hooks: {'$': (stream: {eatWhile(p: RegExp): boolean}) => { stream.eatWhile(/[\w$]/); return 'variable-2' }, '#': (stream: {skipToEnd(): void}) => { stream.skipToEnd(); return 'comment' }},
}) as StreamParser<unknown>

const MODES: Record<string, StreamParser<unknown>> = {
  GLUE_SHELL: shell, GLUE_PYTHON: python, GLUE_PYTHON2: python, GLUE_PHP: php, GLUE_NODEJS: javascript, GLUE_POWERSHELL: powerShell, GLUE_GROOVY: groovy,
}
const colours = HighlightStyle.define([
  {tag: [tags.keyword, tags.operatorKeyword, tags.definitionKeyword], color: 'var(--unknown)'}, {tag: [tags.string, tags.special(tags.string)], color: 'var(--good)'},
  {tag: [tags.number, tags.atom, tags.bool], color: 'var(--brand)'}, {tag: [tags.comment, tags.meta], color: 'var(--text-3)'},
  {tag: [tags.special(tags.variableName), tags.definition(tags.variableName), tags.standard(tags.variableName)], color: 'var(--run)'},
])
const look = EditorView.theme({
  '&': {color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '12.5px', height: '100%'},
  '.cm-scroller': {fontFamily: 'var(--mono)', lineHeight: '20px'},
  '.cm-gutters': {backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: '0'},
  '.cm-activeLine, .cm-activeLineGutter': {backgroundColor: 'color-mix(in srgb, var(--sunken) 60%, transparent)'},
  '.cm-cursor': {borderLeftColor: 'var(--text)'},
  '&.cm-focused': {outline: '2px solid var(--focus)', outlineOffset: '-2px'},
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {backgroundColor: 'var(--run-soft)'},
  '.cm-changedLine, .cm-insertedLine': {backgroundColor: 'var(--good-soft) !important'}, '.cm-deletedChunk, .cm-deletedLine': {backgroundColor: 'var(--bad-soft) !important'},
  '.cm-collapsedLines': {color: 'var(--text-2)', background: 'var(--sunken)'},
  '.cm-panels': {backgroundColor: 'var(--sunken)', color: 'var(--text)', borderColor: 'var(--line)'},
  '.cm-panels input, .cm-panels button': {font: 'inherit', color: 'inherit', background: 'var(--surface)', border: '1px solid var(--edge)', borderRadius: '5px'},
})
const diffLook = [EditorView.theme({'&.cm-merge-a .cm-changedLine': {backgroundColor: 'var(--bad-soft) !important'}}), EditorView.editable.of(false), EditorState.readOnly.of(true)]

function common(kind: string, label: string): Extension[] {
  const mode = MODES[kind]
  return [lineNumbers(), drawSelection(), bracketMatching(), syntaxHighlighting(colours), look,
    EditorView.contentAttributes.of({'aria-label': label}), ...mode ? [StreamLanguage.define(mode)] : []]
}

/** The shadow root of this element; a host is used once. */
function rootOf(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({mode: 'open'})
  root.replaceChildren()
  return root
}

export interface EditorOptions {
  text: string
  kind: string
  label: string
  readOnly?: boolean
  changed?(text: string): void
  save?(): void
}
export interface Opened {
  focus(): void
  destroy(): void
}

export function openEditor(host: HTMLElement, o: EditorOptions): Opened {
  const root = rootOf(host)
  const own: Extension[] = o.readOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false), EditorView.contentAttributes.of({tabindex: '0'})] : [
    history(), indentOnInput(), highlightActiveLine(), indentUnit.of('    '),
    keymap.of([{key: 'Mod-s', run: () => { o.save?.(); return true }}, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.updateListener.of(update => { if (update.docChanged) o.changed?.(update.state.doc.toString()) }),
  ]
  const view = new EditorView({root, parent: root, state: EditorState.create({doc: o.text, extensions: [...own, ...common(o.kind, o.label)]})})
  return {focus: () => view.focus(), destroy: () => view.destroy()}
}

/** Two texts beside each other, or in one column where there is little room. */
export function openDiff(host: HTMLElement, o: {before: string, after: string, kind: string, labels: [string, string], apart: boolean}): Opened {
  const root = rootOf(host)
  const collapseUnchanged = {margin: 3, minSize: 8}
  if (o.apart) {
    const side = (doc: string, label: string) => ({doc, extensions: [...common(o.kind, label), ...diffLook, EditorView.contentAttributes.of({tabindex: '0'})]})
    const view = new MergeView({root, parent: root, a: side(o.before, o.labels[0]), b: side(o.after, o.labels[1]), collapseUnchanged, gutter: true})
    return {focus: () => view.b.focus(), destroy: () => view.destroy()}
  }
  const view = new EditorView({root, parent: root, state: EditorState.create({doc: o.after, extensions: [
    ...common(o.kind, o.labels[1]), ...diffLook, EditorView.contentAttributes.of({tabindex: '0'}), unifiedMergeView({original: o.before, mergeControls: false, collapseUnchanged, gutter: true})]})})
  return {focus: () => view.focus(), destroy: () => view.destroy()}
}
