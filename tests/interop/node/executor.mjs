/* SPDX-License-Identifier: Apache-2.0 */
/* An executor on the npm library xxl-job, with the handlers that all executors of the interop suite
 * have. Everything on the wire is the library's; this file is a user of it. The library has no way to
 * report a failure but to throw, and writes its logs below the working directory. */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import express from 'express';
import { createXxlJobExecutor } from 'xxl-job';

const options = {};
for (let i = 2; i + 1 < process.argv.length; i += 2)
  options[process.argv[i].replace(/^--/, '')] = process.argv[i + 1];
for (const name of ['admin', 'app', 'port', 'token', 'log-dir', 'trace']) {
  if (options[name] === undefined) {
    console.error(`--${name} is missing`);
    process.exit(2);
  }
}
mkdirSync(options['log-dir'], { recursive: true });
process.chdir(options['log-dir']);

const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex');

/* What really ran, one line at the start and one at the end, for the tests to count. */
function trace(event, handler, request, param) {
  const line = {
    event,
    handler,
    logId: request.logId,
    jobId: request.jobId,
    length: Buffer.byteLength(param, 'utf8'),
    sha256: sha256(param),
    shard: request.broadcastIndex,
    total: request.broadcastTotal,
    ms: Date.now(),
    pid: process.pid,
  };
  appendFileSync(options.trace, `${JSON.stringify(line)}\n`);
}

/* Sleeps in small steps: the library can only ask a handler to stop, through request.isKill. */
async function sleep(ms, request) {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    if (request.isKill()) return false;
    await new Promise((done) => setTimeout(done, Math.min(20, Math.max(1, until - Date.now()))));
  }
  return true;
}

const bodies = {
  async demoJobHandler(logger, request, param) {
    const length = Buffer.byteLength(param, 'utf8');
    logger.info(`demo param=${param.length <= 200 ? param : `${length} bytes`} `
      + `shard=${request.broadcastIndex}/${request.broadcastTotal}`);
    return `length=${length} sha256=${sha256(param)}`;
  },
  async shardJobHandler(logger, request) {
    return `shard=${request.broadcastIndex}/${request.broadcastTotal}`;
  },
  async msgJobHandler() {
    return 'said "quoted" <b>&\'= 中文 é 😀 \\ end';
  },
  async failJobHandler() {
    throw new Error('failed on purpose: 失败 <i>"x"</i>');
  },
  async throwJobHandler() {
    throw new TypeError('thrown on purpose');
  },
  async sleepJobHandler(logger, request, param) {
    logger.info('before the sleep');
    if (!await sleep(Number(param), request)) return undefined;
    logger.info('after the sleep');
    return `slept ${param}`;
  },
};

function handler(name) {
  return async (logger, request, executorParams) => {
    const param = executorParams ?? '';
    trace('start', name, request, param);
    try {
      return await bodies[name](logger, request, param);
    } finally {
      trace(request.isKill() ? 'interrupted' : 'end', name, request, param);
    }
  };
}

const app = express();
app.use(express.json());
/* Configured by ip and port the library registers an address without a scheme, by baseUrl one with it. */
const address = options.scheme === 'none'
  ? { ip: '127.0.0.1', port: Number(options.port) }
  : { baseUrl: `http://127.0.0.1:${options.port}` };
const executor = createXxlJobExecutor({
  app,
  appType: 'express',
  route: '/job',
  logStorage: 'local',
  executorKey: options.app,
  scheduleCenterUrl: options.admin,
  accessToken: options.token,
  jobHandlers: new Map(Object.keys(bodies).map((name) => [name, handler(name)])),
  ...address,
});

const server = app.listen(Number(options.port), '127.0.0.1', () => {
  executor.initialization();
  console.log('READY');
});
server.on('error', (error) => {
  console.error(`cannot listen on port ${options.port}: ${error.message}`);
  process.exit(1);
});
process.on('SIGTERM', async () => {
  await executor.cancel();
  process.exit(0);
});
