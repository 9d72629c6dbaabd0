// SPDX-License-Identifier: Apache-2.0
// Scripts of GLUE jobs: what a new one starts from, and drafts that wait in this browser.
import type {Schemas} from './http'

type Kind = Schemas['Task']['kind']
const TEMPLATES: Partial<Record<Kind, string>> = {
  GLUE_SHELL: '#!/bin/bash\nset -euo pipefail\n\n# $1 is the parameter, $2 the index of the shard, $3 the number of shards\necho "parameter: ${1:-}"\n\nexit 0\n',
  GLUE_PYTHON: '#!/usr/bin/env python3\nimport sys\n\n# argv: script, parameter, index of the shard, number of shards\nprint("parameter:", sys.argv[1] if len(sys.argv) > 1 else "")\n\nsys.exit(0)\n',
  GLUE_PYTHON2: '#!/usr/bin/env python2\nimport sys\n\n# argv: script, parameter, index of the shard, number of shards\nprint "parameter:", sys.argv[1] if len(sys.argv) > 1 else ""\n\nsys.exit(0)\n',
  GLUE_PHP: '<?php\n// $argv: script, parameter, index of the shard, number of shards\necho "parameter: " . ($argv[1] ?? "") . "\\n";\n\nexit(0);\n',
  GLUE_NODEJS: '#!/usr/bin/env node\n// process.argv: node, script, parameter, index of the shard, number of shards\nconsole.log("parameter: " + (process.argv[2] || ""))\n\nprocess.exit(0)\n',
  GLUE_POWERSHELL: '# $args: parameter, index of the shard, number of shards\nWrite-Output "parameter: $($args[0])"\n\nexit 0\n',
  GLUE_GROOVY: 'import com.xxl.job.core.context.XxlJobHelper\nimport com.xxl.job.core.handler.IJobHandler\n\nclass DemoHandler extends IJobHandler {\n\n    @Override\n    void execute() throws Exception {\n        XxlJobHelper.log("parameter: " + XxlJobHelper.getJobParam())\n    }\n}\n',
}

export function templateOf(kind: string): string {
  return TEMPLATES[kind as Kind] ?? ''
}

/** Whether the text was not touched since it was taken from a template. */
export function isTemplate(text: string): boolean {
  return !text.trim() || Object.values(TEMPLATES).includes(text)
}

const WEEK = 7 * 86400000
export interface Draft {
  at: number
  base: number // the version that it began from
  source: string
}

/** The unpublished text of this job's script; kept 7 days. */
export function scriptDraftOf(job: number) {
  const key = 'peal.script.' + job
  return {
    read(): Draft | undefined {
      try {
        const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Draft | null
        return kept && typeof kept.source === 'string' && Number.isInteger(kept.base) && Date.now() - kept.at < WEEK ? kept : undefined
      } catch {
        return undefined
      }
    },
    write(base: number, source: string): void {
      try {
        localStorage.setItem(key, JSON.stringify({at: Date.now(), base, source}))
      } catch { /* full, or private mode */ }
    },
    drop: () => localStorage.removeItem(key),
  }
}
