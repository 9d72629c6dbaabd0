// SPDX-License-Identifier: Apache-2.0
// The types of docs/api-v1.yaml as TypeScript, into the file named: `npm run api`.
import {writeFileSync} from 'node:fs'
import openapi, {astToString} from 'openapi-typescript'

const types = astToString(await openapi(new URL('../docs/api-v1.yaml', import.meta.url)))
writeFileSync(process.argv[2], '// SPDX-License-Identifier: Apache-2.0\n// Made from docs/api-v1.yaml by `npm run api`.\n\n' + types)
